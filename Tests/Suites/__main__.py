"""Runs test suites of other projects, each in a plain directory and on a mount.

    python3 Tests/Suites [SUITE...]      all suites by default
    make suites SUITES="fio postgres"

Suites:
  fio         fio with verify: buffered, O_DIRECT, libaio, io_uring, mmap, several jobs
  stress      stress-ng's file system class with --verify, in turn and all at once
  cpython     CPython's own tests, with their temporary directory on the mount
  postgres    initdb, pgbench, kill -9 of everything, recovery, pg_amcheck, pg_checksums
  operations  a million mixed operations, which must leak no descriptor, memory or reference
  files       100,000 files, with 256 descriptors for the daemon

A suite fails if its result on the mount differs from its result in the plain directory. It also
fails if the daemon's log has a warning, if `du` and `storage.used` disagree, or if `purgefs check`
finds something wrong in the store. A failure makes the exit status 1. Known differences are listed,
each with its reason, in the suite's KNOWN.

Ctrl-C or a failure ends all programs, unmounts, and removes the scratch directory.

Environment:
  PURGEFS             the binary (.build/release/purgefs)
  PURGEFS_SUITES_DIR  the parent of the scratch directory (/var/tmp)
  PURGEFS_TEST_SCALE  multiplies durations and counts (1)

Needs root, and the packages of `mount-scripts/install-deps suites`.
"""
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
import cpython
import files
import fio
import operations
import places
import postgres
import processes
import report
import stress

SUITES = {"fio": fio, "stress": stress, "cpython": cpython, "postgres": postgres, "operations": operations,
          "files": files}


def main(names):
    if any(name in ("-h", "--help") for name in names):
        print(__doc__.strip())
        return 0
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        return complain(f"no suite is called {', '.join(unknown)}; there are: {', '.join(SUITES)}", 64)
    if os.geteuid() != 0:
        return complain("needs root (mount namespaces, drop_caches, other users' files)")
    if not os.access(places.PURGEFS, os.X_OK):
        return complain(f"no program {places.PURGEFS}: make build, or set PURGEFS to the binary")
    enter_own_namespace()
    processes.adopt_orphans()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    table = report.Table()
    try:
        with places.Scratch() as scratch:
            for name in names or SUITES:
                run(name, scratch, table)
    except KeyboardInterrupt:
        return complain("interrupted", 130)
    except OSError as error:
        return complain(error)
    table.summary()
    return 1 if table.failed else 0


def complain(text, status=1):
    print(f"suites: {text}", file=sys.stderr)
    return status


def run(name, scratch, table):
    suite = SUITES[name]
    print(f"\n{name}", flush=True)
    plain = collect(suite, scratch.plain(name))
    mount = scratch.mount(name, getattr(suite, "DESCRIPTORS", None), getattr(suite, "ENVIRONMENT", None))
    mounted = {}
    try:
        with mount:
            mounted = collect(suite, mount)
            mounted["after it"] = mount.state()
    except (processes.Failed, OSError) as failure:
        mounted.setdefault(report.BROKEN, report.Result(str(failure)))
    mounted["unmounted"] = mount.end
    table.compare(name, plain, mounted, getattr(suite, "KNOWN", {}))


def collect(suite, place):
    """Runs the suite in a place, and returns the result of each case with its seconds."""
    results = {}
    clock = places.Clock()
    try:
        for case, result in suite.run_suite(place):
            results[case] = report.Result(result, clock.lap())
            place.say(case, report.shorten(result))
    except (processes.Failed, OSError, subprocess.SubprocessError) as failure:
        results[report.BROKEN] = report.Result(str(failure), clock.lap())
        place.say(report.BROKEN, report.shorten(str(failure)))
    finally:
        place.end_programs()
    place.clear()
    return results


def enter_own_namespace():
    """Enters a new mount namespace, so that no other namespace gets a copy of our mounts and keeps them alive."""
    if os.environ.get("PURGEFS_SUITES_UNSHARED"):
        return
    os.environ["PURGEFS_SUITES_UNSHARED"] = "1"
    os.execvp("unshare", ["unshare", "-m", "--propagation", "slave", sys.executable, os.path.dirname(__file__)]
              + sys.argv[1:])


sys.exit(main(sys.argv[1:]))
