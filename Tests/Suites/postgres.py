"""PostgreSQL with its data directory in the place: initdb, pgbench, crashes, and recovery."""
import os
import pwd
import signal
import subprocess
import threading
import time

from places import scaled
from processes import Failed, children, run, wait_until

PROGRAMS = "/usr/lib/postgresql/15/bin"
PORT = "54320"
SETTINGS = """
listen_addresses = ''
port = {port}
unix_socket_directories = '{sockets}'
shared_buffers = 32MB
max_wal_size = 64MB
checkpoint_timeout = 30s
wal_level = logical
"""
BALANCES = """select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history)
and (select sum(bbalance) from pgbench_branches) = (select sum(delta) from pgbench_history)
and (select sum(tbalance) from pgbench_tellers) = (select sum(delta) from pgbench_history)"""


def run_suite(place):
    if not os.path.exists(f"{PROGRAMS}/initdb"):
        raise Failed("PostgreSQL 15 is not installed: mount-scripts/install-deps suites")
    server = Server(place)
    try:
        yield "initdb", server.initialize()
        server.start()
        yield "pgbench -i", server.load()
        yield "pgbench", server.bench(scaled(30, 3))
        server.killed_under_load(server.kill)
        yield "kill -9", "recovered; " + server.recover()
        if place.daemon:
            server.killed_under_load(server.kill_with_the_file_system)
            yield "daemon kill -9", "ok: recovered; " + server.recover()
        yield "whole", server.examine()
        yield "checksums", server.checksums()
        yield "dump", server.dump_and_restore()
    finally:
        server.kill()


class Server:
    """A PostgreSQL server of user postgres, with its data in the place, and its socket and log outside."""

    def __init__(self, place):
        self.place = place
        self.user = pwd.getpwnam("postgres")
        self.process = None
        self.data = os.path.join(place.work, "data")
        self.sockets = place.outside
        self.log = os.path.join(place.outside, "postgres.log")
        for path in (place.work, place.outside):
            os.chown(path, self.user.pw_uid, self.user.pw_gid)

    def command(self, name, *arguments):
        return [f"{PROGRAMS}/{name}", *arguments]

    def identity(self):
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": [], "cwd": self.place.outside,
                "env": {"PATH": os.environ["PATH"], "LC_ALL": "C", "PGHOST": self.sockets, "PGPORT": PORT}}

    def run(self, name, *arguments, timeout=600):
        return run(self.command(name, *arguments), timeout=timeout, **self.identity())

    def sql(self, text):
        done = self.run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", text, "postgres")
        if done.returncode:
            raise Failed(f"{text[:80]}: {done.stdout}")
        return done.stdout.strip()

    def initialize(self):
        done = self.run("initdb", "-D", self.data, "-k", "-A", "trust", "-E", "UTF8", "--locale=C")
        if done.returncode:
            raise Failed(done.stdout[-2000:])
        with open(os.path.join(self.data, "postgresql.auto.conf"), "a") as file:
            file.write(SETTINGS.format(port=PORT, sockets=self.sockets))
        return "exit 0"

    def start(self):
        """Starts the server in a session of its own, so that it can be killed by its process group."""
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                self.command("postgres", "-D", self.data), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, **self.identity())
        if not wait_until(lambda: self.run("pg_isready", "-q").returncode == 0 or self.process.poll() is not None, 120):
            raise Failed(f"the server does not start: {self.said()}")
        if self.process.poll() is not None:
            raise Failed(f"the server ended: {self.said()}")

    def said(self):
        with open(self.log, errors="replace") as file:
            return file.read()[-3000:]

    def load(self):
        done = self.run("pgbench", "-i", "-q", "-s", "10", "--foreign-keys", "postgres")
        self.sql("create table promises (n int primary key, filler text); create extension amcheck")
        return f"exit {done.returncode}"

    def bench(self, seconds):
        done = self.run("pgbench", "-n", "-T", str(seconds), "-c", "4", "-j", "2", "postgres", timeout=seconds + 120)
        said = {name: value for name, _, value in (line.partition(": ") for line in done.stdout.splitlines())}
        self.place.say("", f"{said.get('number of transactions actually processed', 'no')} transactions")
        failed = said.get("number of failed transactions", done.stdout[-500:])
        return f"exit {done.returncode}, transactions failed: {failed}, sums agree: {self.sql(BALANCES)}"

    # Crashes while transactions are being committed.

    def killed_under_load(self, kill):
        """Kills the server while it commits. Keeps the last number that it has reported as committed in `promised`."""
        self.promised = int(self.sql("select coalesce(max(n), 0) from promises"))
        writer = threading.Thread(target=self.promise)
        writer.start()
        load = subprocess.Popen(self.command("pgbench", "-n", "-T", "60", "-c", "4", "-j", "2", "postgres"),
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                **self.identity())
        before = self.promised
        time.sleep(scaled(5, 2))
        kill()
        writer.join()
        load.wait()
        if self.promised < before + 10:
            raise Failed(f"only {self.promised - before} rows were committed before the crash")

    def promise(self):
        """Commits row after row. A row is committed when its number comes back."""
        with subprocess.Popen(self.command("psql", "-XqAt", "postgres"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, **self.identity()) as client:
            try:
                while True:
                    number = self.promised + 1
                    client.stdin.write(f"insert into promises values ({number}, repeat('x', 500)) returning n;\n")
                    client.stdin.flush()
                    if client.stdout.readline().strip() != str(number):
                        break
                    self.promised = number
                client.stdin.close()
            except BrokenPipeError:
                pass

    def kill(self):
        """Kills the postmaster and every process that it has started with SIGKILL, each by its number."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)  # so that it starts no more processes
            family = children(self.process.pid)
            os.killpg(self.process.pid, signal.SIGKILL)
            for pid in family:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()
            for pid in family:
                os.waitpid(pid, 0)  # its orphans are our children
        self.process = None

    def kill_with_the_file_system(self):
        self.place.crash()
        self.kill()
        self.place.mount()

    def recover(self):
        """Starts the server after a crash. Returns whether it replayed its log, and how many committed rows are lost."""
        pid_file = os.path.join(self.data, "postmaster.pid")
        if not os.path.exists(pid_file):
            raise Failed("no postmaster.pid: it was not a crash")
        before = os.path.getsize(self.log)
        self.start()
        with open(self.log, errors="replace") as file:
            file.seek(before)
            news = file.read()
        kept = self.sql(f"select count(*) from promises where n <= {self.promised}")
        lost = self.promised - int(kept)
        self.place.say("", f"{self.promised} rows had been committed, {lost} of them are lost")
        return (f"by replay: {'automatic recovery in progress' in news and 'redo done' in news}, "
                f"committed rows lost: {lost}, sums agree: {self.sql(BALANCES)}")

    # Checks of the integrity of all data.

    def examine(self):
        done = self.run("pg_amcheck", "--all", "--heapallindexed", "--parent-check", "--install-missing")
        bench = self.run("pgbench", "-n", "-T", "3", "-c", "2", "postgres")
        for text in ("vacuum full analyze", "reindex database postgres", "checkpoint"):
            self.sql(text)
        again = self.run("pg_amcheck", "--all", "--heapallindexed", "--parent-check")
        said = (done.stdout + again.stdout).strip() if done.returncode or again.returncode else ""
        return (f"pg_amcheck exit {done.returncode}, pgbench exit {bench.returncode}, after a vacuum full: "
                f"pg_amcheck exit {again.returncode}{': ' + said[-500:] if said else ''}")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(120)
        code, self.process = self.process.returncode, None
        return code

    def checksums(self):
        code = self.stop()
        done = self.run("pg_checksums", "--check", "-D", self.data)
        bad = [line for line in done.stdout.splitlines() if line.startswith("Bad")]
        self.place.remount()
        again = self.run("pg_checksums", "--check", "-D", self.data)
        return f"server exit {code}, exit {done.returncode}, {''.join(bad)}, remounted: exit {again.returncode}"

    def dump_and_restore(self):
        self.start()
        archive = os.path.join(self.place.work, "dump")
        codes = [self.run("pg_dump", "-Fd", "-j", "2", "-f", archive, "postgres").returncode,
                 self.run("createdb", "restored").returncode,
                 self.run("pg_restore", "-j", "2", "-d", "restored", archive).returncode]
        tables = ["pgbench_accounts", "pgbench_tellers", "pgbench_branches", "pgbench_history", "promises"]
        same = 0
        for table in tables:
            query = f"select count(*), sum(hashtext(t::text)::bigint) from {table} t"
            sums = [self.run("psql", "-XqAt", "-c", query, database).stdout for database in ("postgres", "restored")]
            same += sums[0] == sums[1]
        return f"exits {codes}, tables restored the same: {same} of {len(tables)}, server exit {self.stop()}"
