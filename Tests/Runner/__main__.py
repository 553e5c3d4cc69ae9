"""Runs all tests of the test bundle in several processes at once.

    python3 Tests/Runner [OPTION...]     after `swift build --build-tests`; `make test` and `make long` call it

Options:
  --jobs N        processes at once (three for each CPU: mount tests mostly wait)
  --only REGEX    the tests whose name matches; may be given several times
  --beside LINE   a shell command to run beside the tests, without a time limit; it must succeed too; may be given several times
  --list          print the units and their tests, run nothing
  --record        run the tests of a process one by one, and write their times to Tests/Runner/times.txt
  --transport T   ring or dev: how the mounts of all tests get their requests (docs/PERFORMANCE.md); ring needs root
  --limit SECONDS time limit of one process (600 if PURGEFS_TEST_SCALE is below 1, otherwise 1800 times it)

A unit is a set of tests that one process runs, with its mount tests one after the other. Units start in the order of their
recorded times, the longest first. A test of some seconds is a unit of its own; short tests share a unit.

The run fails if a unit fails, exceeds its limit, or leaves out a test. Logs are in .build/test-logs. The last lines name
each failed test, the place of its failure, and the command that runs it alone.
"""
import argparse
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
import bundle
import failures
import plan
import transport
from pool import Pool

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
LOGS = os.path.join(ROOT, ".build/test-logs")
TIMES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "times.txt")


def main(words):
    options = parse(words)
    tests = bundle.list_tests(ROOT, options.only)
    if not tests:
        print("Tests/Runner: no test matches", file=sys.stderr)
        return 1
    units = plan.units(tests, plan.read_times(TIMES))
    if options.list:
        for unit in units:
            print(f"{unit.seconds:7.1f} s  {unit.title}: {len(unit.tests)} tests")
        return 0
    os.makedirs(LOGS, exist_ok=True)
    for name in os.listdir(LOGS):
        os.unlink(os.path.join(LOGS, name))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    began = time.monotonic()
    with transport.chosen(options.transport):
        results = run(units, options)
    if options.record:
        plan.write_times(TIMES, [record for result in results for record in failures.records(result)])
    return report(results, len(units) + len(options.beside), time.monotonic() - began)


def parse(words):
    parser = argparse.ArgumentParser(prog="Tests/Runner", usage=__doc__, add_help=True)
    parser.add_argument("--jobs", type=int, default=3 * (os.cpu_count() or 1))
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--beside", action="append", default=[])
    parser.add_argument("--transport", choices=["ring", "dev"])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--record", action="store_true")
    scale = float(os.environ.get("PURGEFS_TEST_SCALE") or 1)
    parser.add_argument("--limit", type=float, default=600 if scale < 1 else 1800 * scale)
    return parser.parse_args(words)


def run(units, options):
    results = []
    jobs = [*bundle.commands(ROOT, LOGS, options.beside), *bundle.jobs(ROOT, LOGS, units, options.record)]
    with Pool(options.jobs, options.limit) as pool:
        for result in pool.run(jobs):
            results.append(result)
            state = "" if failures.passed(result) else "   FAILED"
            print(f"[{len(results)}/{len(jobs)}] {result.seconds:6.1f} s {result.cpu:6.1f} s of CPU  "
                  f"{result.job.unit.title}{state}", flush=True)
    return results


def report(results, count, seconds):
    records = [record for result in results for record in failures.records(result)]
    failed = [result for result in results if not failures.passed(result)]
    for result in failed:
        print(f"\n=== {result.job.unit.title}: {result.job.log}")
        print(failures.excerpt(result))
    print(f"\ntests: {seconds:.0f} s, {sum(result.cpu for result in results):.0f} s of CPU, {count} processes")
    for line in ["", "Failed:"] + failures.summary(failed) if failed else []:
        print(line)
    bad = sum(record.failed for record in records)
    skipped = sum(record.skipped for record in records)
    print(f"{len(records) - bad - skipped} passed, {max(bad, len(failed))} failed, {skipped} skipped")
    for line in failures.skips(records):
        print(line)
    return 1 if failed or len(results) != count or failures.lacks_mounts(records) else 0


sys.exit(main(sys.argv[1:]))
