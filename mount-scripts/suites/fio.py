"""fio with verify: what each case wrote is read back at once, and again after a remount."""
from places import run, scaled

SIZE = 64  # MiB, each job
COMMON = ["--randrepeat=1", "--randseed=7", "--verify=crc32c", "--verify_fatal=1", "--minimal"]
CASES = {
    "buffered": ["--rw=randwrite", "--bs=4k", "--numjobs=4", "--ioengine=psync"],
    "unaligned": ["--rw=randwrite", "--bsrange=512-32k", "--bs_unaligned", "--numjobs=4", "--ioengine=psync"],
    "direct": ["--rw=randwrite", "--bs=4k", "--numjobs=4", "--ioengine=psync", "--direct=1"],
    "libaio": ["--rw=randwrite", "--bsrange=4k-64k", "--numjobs=4", "--ioengine=libaio", "--iodepth=16", "--direct=1"],
    "io_uring": ["--rw=randwrite", "--bs=4k", "--numjobs=2", "--ioengine=io_uring", "--iodepth=16", "--direct=1"],
    "mmap": ["--rw=randwrite", "--bs=4k", "--numjobs=4", "--ioengine=mmap"],
    "one file": ["--rw=randwrite", "--bs=4k", "--numjobs=4", "--ioengine=psync", "--filename=one",
                 f"--offset_increment={scaled(SIZE, 4)}m"],
    "large": ["--rw=write", "--bs=1m", "--numjobs=2", "--ioengine=sync"],
    "fsync": ["--rw=randwrite", "--bs=8k", "--numjobs=2", "--ioengine=psync", "--fsync=64"],
    "no fallocate": ["--rw=randwrite", "--bs=4k", "--numjobs=2", "--ioengine=psync", "--fallocate=none"],
    "read beside": ["--rw=randrw", "--bsrange=512-32k", "--numjobs=4", "--ioengine=psync", "--verify_backlog=128",
                    "--verify_async=2"],
}


def fio(place, case, options):
    done = run(["fio", f"--name={case.replace(' ', '-')}", f"--directory={place.work}", f"--size={scaled(SIZE, 4)}m",
                *COMMON, *CASES[case], *options], cwd=place.outside)
    wrong = [line for line in done.stdout.splitlines() if line and not line[0].isdigit()]
    return f"exit {done.returncode}" + (f": {wrong[0]}" if done.returncode and wrong else "")



def run_suite(place):
    for case in CASES:
        yield case, fio(place, case, ["--do_verify=1"])
    place.remount()
    # What verifies while it writes cannot be verified alone.
    yield "remounted", {case: fio(place, case, ["--verify_only"]) for case in CASES if case != "read beside"}
