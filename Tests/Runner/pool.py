"""Runs several commands at a time, each with its own process group and log."""
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass
class Job:
    unit: object
    words: list
    directory: str
    log: str
    # The event stream of Swift Testing.
    events: str
    has_limit: bool = True


@dataclass
class Result:
    job: Job
    status: int
    seconds: float
    # CPU seconds of the process and of its descendants that were waited for.
    cpu: float
    timed_out: bool


class Pool:
    """The running processes. The end of the `with` block kills the rest of them with their groups."""

    def __init__(self, size, limit):
        self.size = size
        self.limit = limit
        self.running = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in list(self.running):
            self.kill(process)
        for process in list(self.running):
            os.waitpid(process, 0)
            del self.running[process]

    def run(self, jobs):
        """Yields a Result for each job as it ends."""
        waiting = iter(jobs)
        while True:
            while len(self.running) < self.size and (job := next(waiting, None)) is not None:
                self.start(job)
            if not self.running:
                return
            yield self.wait()

    def start(self, job):
        with open(job.log, "wb") as log:
            child = subprocess.Popen(job.words, cwd=job.directory, stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=subprocess.STDOUT, start_new_session=True)
        self.running[child.pid] = [job, time.monotonic(), False, child]

    def wait(self):
        while True:
            process, status, usage = os.wait4(-1, os.WNOHANG)
            if process in self.running:
                job, began, timed_out, child = self.running.pop(process)
                child.returncode = os.waitstatus_to_exitcode(status)  # otherwise Popen would wait for it again
                return Result(job, child.returncode, time.monotonic() - began, usage.ru_utime + usage.ru_stime, timed_out)
            now = time.monotonic()
            for each, entry in self.running.items():
                if entry[0].has_limit and now - entry[1] > self.limit and not entry[2]:
                    entry[2] = True
                    self.kill(each)
            time.sleep(0.02)

    def kill(self, process):
        """Kills the whole group. The janitor of the test process unmounts its remaining mounts."""
        try:
            os.killpg(process, signal.SIGKILL)
        except ProcessLookupError:
            print(f"Tests/Runner: process {process} is gone", file=sys.stderr)
