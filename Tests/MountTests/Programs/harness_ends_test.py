"""How containers of tests end: after a failure, an interrupt and a kill, while they are in use, and many in a row."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from purgefs_pytest import Container

SCRIPTS = str(pathlib.Path(sys.modules[Container.__module__].__file__).parent)


@pytest.fixture
def folder(tmp_path):
    """An empty TMPDIR, in which nothing is left afterwards, soon."""
    (tmp_path / "tmp").mkdir()
    yield tmp_path
    deadline = time.monotonic() + 60
    while left := os.listdir(tmp_path / "tmp"):
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


def run(folder, *words):
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONPATH": SCRIPTS}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, start_new_session=True)


def run_test(folder, body, *options):
    lines = "".join(f"    {line}\n" for line in body)
    (folder / "test_it.py").write_text(f"import os, signal\ndef test_it(container):\n{lines}")
    return run(folder, sys.executable, "-B", "-m", "pytest", "-p", "purgefs_pytest", "-p", "no:cacheprovider", *options)


def test_failure(folder):
    body = ["(container.tmp / 'a').touch()", "container.purge('tmp')", "container.set(total='1G')", "assert False"]
    outcome = run_test(folder, body, "--purgefs-reports=reports")
    assert outcome.returncode == 1 and "1 failed" in outcome.stdout
    assert '"type": "purge", "path": "tmp/a"' in outcome.stdout
    assert "Numbers(total=1073741824" in outcome.stdout
    assert (folder / "reports/test_it.py-test_it.html").read_text().startswith("<!DOCTYPE html>")


def test_no_reports_without_failure(folder):
    assert run_test(folder, ["pass"], "--purgefs-reports=reports").returncode == 0
    assert not (folder / "reports").exists()


@pytest.mark.parametrize("name, status", [("SIGINT", 2), ("SIGTERM", -15), ("SIGKILL", -9)])
def test_signal_to_pytest(folder, name, status):
    """As Ctrl-C does it, SIGINT is for all processes of the terminal."""
    kill = f"os.killpg(0, signal.{name})" if name == "SIGINT" else f"os.kill(os.getpid(), signal.{name})"
    outcome = run_test(folder, ["(container.documents / 'a').touch()", kill, "signal.pause()"])
    assert outcome.returncode == status
    assert "the container ended" not in outcome.stdout


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "KILL"])
def test_signal_to_shell(folder, name):
    script = f'. {SCRIPTS}/container.sh && container_begin && echo "$CONTAINER" && kill -{name} $$'
    outcome = run(folder, "sh", "-c", script)
    number = signal.Signals["SIG" + name]
    assert outcome.returncode == (-9 if name == "KILL" else 128 + number)
    assert outcome.stdout.startswith(str(folder))
    deadline = time.monotonic() + 60
    while os.path.exists(outcome.stdout.strip()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for rest in (folder / "tmp").glob("purgefs-sh.*"):  # what only the killed shell could have removed
        assert name == "KILL"
        for file in rest.iterdir():
            file.unlink()
        rest.rmdir()


def test_still_in_use():
    container = Container(total="64M")
    file = open(container.documents / "a", "w")
    with pytest.raises(RuntimeError, match="still in use"):
        container.end()
    container.end()
    with pytest.raises(OSError):
        file.write("x")
        file.flush()
    with pytest.raises(OSError):
        file.close()
    assert not container.path.exists()


def test_no_container(monkeypatch):
    with pytest.raises(RuntimeError, match="--total"):
        Container(total="much")
    with pytest.raises(TypeError, match="has no colour"):
        Container(colour="red")
    monkeypatch.setenv("PURGEFS", "/no/purgefs")
    with pytest.raises(RuntimeError, match="PURGEFS names the binary"):
        Container()


def test_many_in_a_row():
    """None leaves a descriptor, a process or memory in the process of the tests."""
    def measure():
        gc.collect()
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        return pages * 4096, sorted(os.listdir("/proc/self/fd")), children

    def use(count):
        for number in range(count):
            with Container(total="64M") as container:
                (container.caches / "a").write_bytes(bytes(65536))
                container.purge("caches")
                container.expect_purge("Library/Caches/a")
                assert container.run("true").returncode == 0

    count = int(os.environ.get("HARNESS_COUNT", "20"))
    use(count // 4 + 2)
    memory, descriptors, children = measure()
    use(count)
    after = measure()
    assert after[1:] == (descriptors, children)
    assert after[0] - memory < 2 << 20
