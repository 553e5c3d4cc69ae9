"""purgefs run beside changes of the app's state, at random moments: app_states.py PURGEFS SCRATCH ROUNDS SEED

COMMAND starts processes of its own, in sessions of their own too, and ends with 7. Each round sends a few commands while it runs,
at a moment that the seed chooses; in every fourth round the daemon is killed. The status must be 7 or, if the system ended the
app, 137, or 125 after the daemon was killed, and no process may be left, stopped or not.
"""

import os
import random
import signal
import subprocess
import sys
import time

purgefs, scratch, rounds, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
COMMANDS = ["launch", "background", "suspend", "terminate", "update", "delete", "offload", "install", "suspend"]
SCRIPT = """
echo $PURGEFS_MOUNT > $OUT/new; mv $OUT/new $OUT/mount
for i in 1 2 3 4; do (exec setsid sh -c 'for j in 1 2 3 4 5 6; do sleep 0.01; done') & done
for i in 1 2 3 4 5 6 7 8; do sh -c 'exec sleep 0.01'; done
wait; exit 7
"""


def processes(token):
    """The processes whose environment has the token, with their states."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if token not in file.read():
                    continue
            with open(f"/proc/{name}/stat") as file:
                found[int(name)] = file.read().rpartition(")")[2].split()[0]
        except OSError:
            continue
    return {pid: state for pid, state in found.items() if state not in "ZX"}


def daemon(run):
    with open(f"/proc/{run.pid}/task/{run.pid}/children") as file:
        children = [int(word) for word in file.read().split()]
    for pid in children:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if b"--foreground" in file.read():
                return pid
    return None


def change(mount, commands, chance):
    """Sends the commands."""
    for command in commands:
        time.sleep(chance.random() * 0.03)
        try:
            with open(mount + "/.purgefs/app.state", "w") as file:
                file.write(command)
        except OSError:
            pass  # the run has ended, or the state does not allow the command


def start(number):
    """Starts a run. Returns it with the path of its mount."""
    place = f"{scratch}/{number}"
    os.mkdir(place)
    environment = dict(os.environ, OUT=place, APP_STATES=f"{os.getpid()}.{number}")
    run = subprocess.Popen([purgefs, "run", "--total", "64M", "--", "sh", "-c", SCRIPT], env=environment,
                           stderr=subprocess.PIPE, text=True)
    while not os.path.exists(place + "/mount") and run.poll() is None:
        time.sleep(0.001)
    with open(place + "/mount") as file:
        return run, file.read().strip()


def await_end(run, mount, deadline):
    """Waits for the end, and launches an app that is suspended, which nobody else continues. Returns whether the run ended."""
    while run.poll() is None:
        if time.monotonic() > deadline:
            run.kill()
            return False
        try:
            with open(mount + "/.purgefs/app.state") as file:
                if file.read() == "suspended\n":
                    change(mount, ["launch"], random.Random(1))
        except OSError:
            pass  # the daemon was killed, or the run ends
        time.sleep(0.01)
    return True


def round_of(number, chance):
    """Carries out a round. Returns what is wrong, or None."""
    token = f"APP_STATES={os.getpid()}.{number}".encode()
    run, mount = start(number)
    commands = [chance.choice(COMMANDS) for _ in range(chance.randint(1, 4))]
    change(mount, commands, chance)
    victim = daemon(run) if number % 4 == 3 and run.poll() is None else None
    if victim:
        os.kill(victim, signal.SIGKILL)
    deadline = time.monotonic() + 60
    told = f"round {number}: {commands}: "
    if not await_end(run, mount, deadline):
        return told + f"no end; processes {processes(token)}"
    told += run.stderr.read()
    if run.returncode not in ({7, 137, 125} if victim else {7, 137}):
        return told + f"status {run.returncode}"
    if run.returncode == 137 and not victim and "suspend" not in commands:
        return told + "killed, though it was never suspended"
    # Orphans of a killed COMMAND end by themselves within their 60 ms, unless they are stopped.
    while left := processes(token):
        if time.monotonic() > deadline:
            return told + f"left {left}"
        time.sleep(0.01)
    return None


chance = random.Random(seed)
for number in range(rounds):
    failure = round_of(number, chance)
    if failure:
        sys.exit(f"seed {seed}, {failure}")
print(f"{rounds} rounds")
