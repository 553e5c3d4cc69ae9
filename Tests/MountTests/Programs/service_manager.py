"""service_manager.py PURGEFS KIND: acts as the service manager of `purgefs mount --foreground`.

KIND is path, abstract, signals, missing (a socket that does not exist) or full (a socket that accepts no more). Works in the current
directory, and always unmounts at the end.
"""
import os
import resource
import signal
import socket
import subprocess
import sys
import time

PURGEFS, KIND = sys.argv[1:]
IS_TOLD = KIND in ("path", "abstract", "signals")


def main():
    os.mkdir("mnt")
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.settimeout(30)
    name = f"@purgefs-test-{os.getpid()}" if KIND == "abstract" else os.path.abspath("notify")
    if KIND != "missing":
        manager.bind(name.replace("@", "\0"))
    if KIND == "full":
        fill(name)
    try:
        serve(manager, name)
        if KIND == "path":
            run_command(manager, name)
    finally:
        subprocess.run([PURGEFS, "unmount", "--force", "mnt"], stderr=subprocess.DEVNULL)


def fill(name):
    """Fills the socket until it refuses even a new sender, which still has its own buffer."""
    sent = True
    while sent:
        sender, sent = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), False
        sender.setblocking(False)
        try:
            while True:
                sender.sendto(b"STATUS=full", name)
                sent = True
        except BlockingIOError:
            pass


def serve(manager, name):
    service = subprocess.Popen([PURGEFS, "mount", "--foreground", "--total", "64M", "store", "mnt"],
                               env={**os.environ, "NOTIFY_SOCKET": name}, stderr=subprocess.PIPE, text=True,
                               preexec_fn=ignore_hangups if KIND == "signals" else None)
    if IS_TOLD:
        assert manager.recv(4096) == b"READY=1"
    else:
        deadline = time.monotonic() + 30
        while not os.path.ismount("mnt"):
            assert time.monotonic() < deadline and service.poll() is None, "no mount"
            time.sleep(0.01)
    assert '"total":67108864' in open("mnt/.purgefs/status.json").read().replace(" ", "")
    open("mnt/Documents/f", "w").write("x")
    # Both ways to end a service: its stop command and a signal.
    if KIND == "path":
        subprocess.run([PURGEFS, "unmount", "mnt"], check=True)
    elif KIND == "signals":
        send_signals(service)
    else:
        service.terminate()
    if IS_TOLD:
        assert manager.recv(4096) == b"STOPPING=1"
    warnings = service.communicate(timeout=30)[1]
    assert service.returncode == 0, service.returncode
    expected = {"missing": "No such file or directory", "full": "Resource temporarily unavailable"}.get(KIND)
    assert warnings.count("to the service manager: ") == (2 if expected else 0), warnings
    assert expected is None or expected in warnings, warnings
    assert open("store/container/Documents/f").read() == "x"
    assert not os.path.ismount("mnt")


def ignore_hangups():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def send_signals(service):
    """An ignored SIGHUP stays ignored, and SIGQUIT unmounts. The mount already answers before it is ready, and a signal before
    it is ready counts as an interruption."""
    service.send_signal(signal.SIGHUP)
    # If both are pending, SIGHUP is delivered first.
    service.send_signal(signal.SIGUSR1)
    line = service.stderr.readline()
    assert "census" in line, line
    assert os.path.exists("mnt/.purgefs")
    service.send_signal(signal.SIGQUIT)


def run_command(manager, name):
    """Neither the COMMAND of `run` nor the daemons of `run` and `mount` notify the manager."""
    environment = {**os.environ, "NOTIFY_SOCKET": name}
    shown = subprocess.run([PURGEFS, "run", "--quiet", "--total", "64M", "--", "env"], env=environment, check=True,
                           capture_output=True, text=True)
    assert "PURGEFS_MOUNT=" in shown.stdout and "NOTIFY_SOCKET" not in shown.stdout, shown.stdout
    subprocess.run([PURGEFS, "mount", "--total", "64M", "store", "mnt"], env=environment, check=True)
    subprocess.run([PURGEFS, "unmount", "mnt"], env=environment, check=True)
    manager.setblocking(False)
    try:
        raise AssertionError(manager.recv(4096))
    except BlockingIOError:
        pass


main()
