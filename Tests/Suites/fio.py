"""fio with verify: each case reads its data back at once and, unless it is in ONCE, again after a remount."""
import json

from places import scaled
from processes import run

SIZE = scaled(64, 4)  # MiB, each job
COMMON = ["--randrepeat=1", "--randseed=7", "--verify=crc32c", "--verify_fatal=1", "--group_reporting"]
CASES = {
    "buffered": ["--rw=randwrite", "--bs=4k", "--numjobs=4", "--ioengine=psync"],
    "unaligned": ["--rw=randwrite", "--bsrange=512-32k", "--bs_unaligned", "--numjobs=4", "--ioengine=psync"],
    "direct": ["--rw=randwrite", "--bs=4k", "--numjobs=4", "--ioengine=psync", "--direct=1"],
    "libaio": ["--rw=randwrite", "--bsrange=4k-64k", "--numjobs=4", "--ioengine=libaio", "--iodepth=16", "--direct=1"],
    "io_uring": ["--rw=randwrite", "--bs=4k", "--numjobs=2", "--ioengine=io_uring", "--iodepth=16", "--direct=1"],
    "mmap": ["--rw=randwrite", "--bs=4k", "--numjobs=4", "--ioengine=mmap"],
    "one file": ["--rw=randwrite", "--bs=4k", "--numjobs=4", "--ioengine=psync", "--filename=one",
                 f"--offset_increment={SIZE}m"],
    "large": ["--rw=write", "--bs=1m", "--numjobs=2", "--ioengine=sync"],
    "fsync": ["--rw=randwrite", "--bs=8k", "--numjobs=2", "--ioengine=psync", "--fsync=64"],
    "no fallocate": ["--rw=randwrite", "--bs=4k", "--numjobs=2", "--ioengine=psync", "--fallocate=none"],
    "read beside": ["--rw=randrw", "--bsrange=512-32k", "--numjobs=4", "--ioengine=psync", "--verify_backlog=128",
                    "--verify_async=2"],
}
# A case that verifies while it writes cannot be verified separately.
ONCE = ["read beside"]


def run_suite(place):
    for case in CASES:
        yield case, fio(place, case, ["--do_verify=1"])
    place.remount()
    yield "remounted", {case: fio(place, case, ["--verify_only"]) for case in CASES if case not in ONCE}


def fio(place, case, options):
    """Returns fio's exit status and the bytes that it has read back. fio stops at the first mismatch."""
    done = run(["fio", f"--name={case.replace(' ', '-')}", f"--directory={place.work}", f"--size={SIZE}m", *COMMON,
                *CASES[case], *options, "--output-format=json"], cwd=place.outside)
    said, brace, _ = done.stdout.partition("{")  # remarks come before the report
    if done.returncode or not brace:
        return f"exit {done.returncode}: {' / '.join(said.split(chr(10)))[-300:]}"
    results, _ = json.JSONDecoder().raw_decode(done.stdout, len(said))
    return f"exit 0: {sum(job['read']['io_bytes'] for job in results['jobs'])} bytes read"
