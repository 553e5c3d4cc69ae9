#!/usr/bin/env python3
"""Runs the checks of posix_*.py on a mount and in a plain directory, and compares the outcomes.

    posix.py MOUNTED PLAIN [--table docs/POSIX.md] [--only REGEX] [--readonly STAGE]
             [--report FILE] [--show] [--list]

Both directories must be empty. A check fails if its outcomes differ, unless the section "Differences" of the table names it. A
check that the table names must differ. `--readonly prepare` makes the tree for the checks of posix_readonly.py in both
directories, and `--readonly check` runs only those checks, on a mount that is then read-only.
"""
import argparse
import importlib
import json
import os
import pathlib
import re
import select
import signal
import sys
import time
import traceback

import posix_check

HERE = pathlib.Path(__file__).resolve().parent
# Seconds that a check may take on one side before it counts as hanging.
DEADLINE = 60


def load(readonly):
    """Returns the checks for a read-only mount, or all others."""
    for path in sorted(HERE.glob("posix_*.py")):
        importlib.import_module(path.stem)
    return {
        name: function for name, function in posix_check.CHECKS.items()
        if (function.__module__ == "posix_readonly") == readonly
    }


def listed(table):
    """Returns the names in the first column of the tables in the section "Differences"."""
    names, inside = set(), False
    for line in pathlib.Path(table).read_text().splitlines():
        if line.startswith("## "):
            inside = line.strip() == "## Differences"
        elif inside and line.startswith("| `"):
            names.update(re.findall(r"`([a-z0-9_]+)`", line.split("|")[1]))
    return names


def run(function, directory, protect=None):
    """Returns the check's value, or the reason why it broke."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        run_here(function, directory, writer, protect)
    os.close(writer)
    data, end = b"", time.monotonic() + DEADLINE
    while True:
        if not select.select([reader], [], [], max(0, end - time.monotonic()))[0]:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(reader)
            return {"broken": f"still running after {DEADLINE} s"}
        chunk = os.read(reader, 65536)
        if not chunk:
            break
        data += chunk
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    return json.loads(data) if data else {"broken": f"ended with wait status {status:#x}"}


def run_here(function, directory, writer, protect):
    os.setpgid(0, 0)
    try:
        os.umask(0o022)
        os.chdir(directory)
        if protect:
            protect(directory)
        report = {"value": posix_check.readable(function())}
    except BaseException as error:
        report = {"broken": "".join(traceback.format_exception(error))}
    data = json.dumps(report, sort_keys=True).encode()
    while data:
        data = data[os.write(writer, data):]
    os._exit(0)


def compare(name, function, mounted, plain):
    """Returns the reports of both sides, each made in a new directory."""
    reports = []
    for place in (mounted, plain):
        directory = os.path.join(place, name)
        os.mkdir(directory, 0o755)
        os.chmod(directory, 0o755)
        reports.append(run(function, directory))
    return reports


def compare_readonly(name, function, mounted, plain):
    """Returns the reports of both sides, made in the tree of `prepare`."""
    return [run(function, mounted), run(function, plain, sys.modules["posix_readonly"].protect)]


def difference(here, there, path=""):
    """Returns a line for each place where two values differ."""
    if isinstance(here, dict) and isinstance(there, dict):
        keys = sorted(set(here) | set(there))
        return [line for key in keys for line in difference(here.get(key), there.get(key), f"{path}.{key}")]
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        return [line for at, pair in enumerate(zip(here, there)) for line in difference(*pair, f"{path}[{at}]")]
    return [] if here == there else [f"    {path or 'value'}: mount {str(here)[:1500]} | plain {str(there)[:1500]}"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mounted")
    parser.add_argument("plain")
    parser.add_argument("--table")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--readonly", choices=["prepare", "check"])
    parser.add_argument("--report", metavar="FILE", help="write the outcome there as JSON, too")
    parser.add_argument("--show", action="store_true", help="print every value of the plain side")
    parser.add_argument("--list", action="store_true", help="print the names of the checks and run none")
    return parser.parse_args()


def judge(reports, is_listed):
    """Returns the problem of a check, or None."""
    broken = [report["broken"] for report in reports if "broken" in report]
    if broken:
        return f"    broken: {broken[0]}"
    if reports[0] != reports[1]:
        return None if is_listed else "\n".join(difference(reports[0]["value"], reports[1]["value"]))
    return "    does not differ, though the table says so" if is_listed else None


def main():
    options = arguments()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    checks = {name: function for name, function in load(options.readonly is not None).items()
              if re.search(options.only, name)}
    if options.list:
        print("\n".join(checks))
        return 0
    if options.readonly == "prepare":
        for place in (options.mounted, options.plain):
            sys.modules["posix_readonly"].prepare(place)
        return 0
    excused = listed(options.table) if options.table else set()
    skipped = [name for name, function in checks.items() if function.root and os.geteuid() != 0]
    ran = [name for name in checks if name not in skipped]
    failures = {}
    for name in ran:
        began = time.monotonic()
        both = compare_readonly if options.readonly else compare
        reports = both(name, checks[name], options.mounted, options.plain)
        if options.show:
            print(f"{name} {time.monotonic() - began:.2f} s: {json.dumps(reports[1], sort_keys=True)}")
        if wrong := judge(reports, name in excused):
            failures[name] = wrong
    for name in sorted(excused - set(posix_check.CHECKS)):
        failures[name] = "    is in the table and there is no such check"
    if options.report:
        report = {"ran": ran, "listed": sorted(excused & set(ran)), "skipped": skipped, "failures": failures}
        pathlib.Path(options.report).write_text(json.dumps(report))
    print(f"{len(ran)} checks, {len(excused & set(ran))} of them listed differences, {len(skipped)} skipped without root")
    for name, wrong in failures.items():
        print(f"{name}\n{wrong}")
    print(f"{len(failures)} failed" if failures else "all as expected")
    return 1 if failures or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
