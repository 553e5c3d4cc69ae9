"""service_manager.py PURGEFS KIND: acts as the service manager of `purgefs mount --foreground`.

KIND is path, abstract, missing (a socket that does not exist) or full (a socket that accepts no more). Works in the current
directory, and always unmounts at the end.
"""
import os
import socket
import subprocess
import sys
import time

PURGEFS, KIND = sys.argv[1:]


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
                               env={**os.environ, "NOTIFY_SOCKET": name}, stderr=subprocess.PIPE, text=True)
    if KIND in ("path", "abstract"):
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
    else:
        service.terminate()
    if KIND in ("path", "abstract"):
        assert manager.recv(4096) == b"STOPPING=1"
    warnings = service.communicate(timeout=30)[1]
    assert service.returncode == 0, service.returncode
    expected = {"missing": "No such file or directory", "full": "Resource temporarily unavailable"}.get(KIND)
    assert warnings.count("service manager cannot be told") == (2 if expected else 0), warnings
    assert expected is None or expected in warnings, warnings
    assert open("store/container/Documents/f").read() == "x"
    assert not os.path.ismount("mnt")


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
