"""CPython's own tests, run by Debian's interpreter with all their files in the place."""
import glob
import os
import pwd
import xml.etree.ElementTree

from places import HERE, remove
from processes import Failed, run, succeed

PYTHON = "/usr/bin/python3.11"
LIBRARY = "/usr/lib/python3.11/test"
MODULES = ["test_os", "test_posix", "test_shutil", "test_tempfile", "test_mmap", "test_pathlib", "test_zipfile",
           "test_tarfile", "test_sqlite3", "test_dbm", "test_mailbox", "test_largefile", "test_fcntl", "test_glob"]
# Kept between runs, with the other build products.
CACHE = os.path.normpath(os.path.join(HERE, "../../.build/suites"))


def run_suite(place):
    if not os.path.exists(f"{LIBRARY}/test_os.py"):
        raise Failed(f"no tests in {LIBRARY}: mount-scripts/install-deps suites")
    for module in MODULES:
        yield module, run_module(module, place.work, place.outside)
    # As root, many tests of permissions are skipped or prove nothing.
    user = pwd.getpwnam("nobody")
    folders = [os.path.join(parent, "nobody") for parent in (place.work, place.outside)]
    for folder in folders:
        os.mkdir(folder)
        os.chown(folder, user.pw_uid, user.pw_gid)
    outcomes = {}
    for module in MODULES:
        outcomes |= run_module(module, *folders, user=user.pw_uid, group=user.pw_gid, extra_groups=[])
    yield "as nobody", outcomes


def run_module(module, work, outside, **identity):
    """Returns the outcome of each test of the module."""
    results = os.path.join(outside, f"{module}.xml")
    environment = {**os.environ, "TMPDIR": work, "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("PYTHONPATH", "PYTHONHOME"):
        environment.pop(name, None)
    if module == "test_sqlite3":
        environment["PYTHONPATH"] = test_sqlite3()
    done = run([PYTHON, "-m", "test", "-u", "largefile", "--tempdir", work, "--junit-xml", results, module],
               env=environment, cwd=work, timeout=900, **identity)
    if not os.path.exists(results):
        raise Failed(f"{module}: no results: {done.stdout[-2000:]}")
    outcomes = {module: f"exit {done.returncode}"}
    for case in xml.etree.ElementTree.parse(results).iter("testcase"):
        marks = [part.tag for part in case if part.tag in ("failure", "error", "skipped")]
        outcomes[case.get("name")] = marks[0] if marks else "passed"
    return outcomes


def test_sqlite3():
    """Returns a directory with a package `test` that includes test_sqlite3.

    Debian's package leaves test_sqlite3 out, so it comes from Debian's source.
    """
    top = os.path.join(CACHE, "python")
    if os.path.exists(top):
        return top
    fetched = os.path.join(CACHE, "source")
    remove(fetched)
    os.makedirs(os.path.join(fetched, "lists", "partial"))
    with open(os.path.join(fetched, "sources.list"), "w") as file:
        file.write("deb-src http://deb.debian.org/debian bookworm main\n")
    apt = ["apt-get", "-o", f"Dir::Etc::SourceList={fetched}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null",
           "-o", f"Dir::State::Lists={fetched}/lists", "-o", "APT::Sandbox::User=root"]
    succeed([*apt, "update"])
    succeed([*apt, "source", "--tar-only", "python3.11"], cwd=fetched)
    archive = glob.glob(os.path.join(fetched, "python3.11*.orig.tar.*"))
    if not archive:
        raise Failed("apt-get has fetched no source of Python")
    new = os.path.join(fetched, "python")
    os.makedirs(os.path.join(new, "test"))
    for path in glob.glob(f"{LIBRARY}/*"):
        os.symlink(path, os.path.join(new, "test", os.path.basename(path)))
    succeed(["tar", "-C", new, "-xf", archive[0], "--strip-components=2", "--wildcards", "*/Lib/test/test_sqlite3/*"])
    os.rename(new, top)
    remove(fetched)
    return top
