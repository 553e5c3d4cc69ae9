"""Ends of tests' containers: after a failure, a signal or a kill, while they are in use, and many in a row."""

import gc
import multiprocessing
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest

from purgefs_pytest import Container

PROGRAMS = str(pathlib.Path(__file__).parent)
SCRIPTS = str(pathlib.Path(sys.modules[Container.__module__].__file__).parent)


@pytest.fixture
def folder(tmp_path):
    """Provides an empty TMPDIR, and waits at the end until it is empty again."""
    (tmp_path / "tmp").mkdir()
    yield tmp_path
    deadline = time.monotonic() + 60
    while left := os.listdir(tmp_path / "tmp"):
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


def run(folder, *words):
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONPATH": SCRIPTS}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, errors="surrogateescape", timeout=120,
        start_new_session=True)


def run_test(folder, body, *options):
    lines = "".join(f"    {line}\n" for line in body)
    (folder / "test_it.py").write_text(f"import os, signal\ndef test_it(container):\n{lines}")
    return run(folder, sys.executable, "-B", "-m", "pytest", "-p", "purgefs_pytest", "-p", "no:cacheprovider", *options)


def test_failure(folder):
    body = ["(container.tmp / 'a').touch()", "container.purge('tmp')", "container.set(total='1G')", "assert False"]
    outcome = run_test(folder, body, "--purgefs-reports=reports", "--junitxml=junit.xml", "-o", "junit_logging=system-out")
    assert outcome.returncode == 1 and "1 failed" in outcome.stdout
    assert '"type": "purge", "path": "tmp/a"' in outcome.stdout
    assert "Numbers(total=1073741824" in outcome.stdout
    page = "reports/test_it.py-test_it.html"
    assert (folder / page).read_text().startswith("<!DOCTYPE html>")
    junit = xml.etree.ElementTree.parse(folder / "junit.xml")
    properties = {each.get("name"): each.get("value") for each in junit.iter("property")}
    assert properties == {"purgefs-events": "capacity 1, purge 1", "purgefs-report": page}, properties
    assert f"[[ATTACHMENT|{folder / page}]]" in junit.find(".//system-out").text
    assert run_test(folder, ["pass"], "--purgefs-reports=reports").returncode == 0
    assert not (folder / page).exists(), "the page of an earlier run"


def test_pages_of_similar_names(folder):
    """A test that passes removes only its own page, and nothing that is no page."""
    (folder / "reports").mkdir()
    (folder / "reports/test_it.py-test_other.html").write_text("mine")
    (folder / "test_it.py").write_text(
        "import pytest\n@pytest.mark.parametrize('name', ['a+b', 'a b', 'a/b', 'a-b'])\n"
        "def test_it(container, name): assert name in ('a b', 'a-b')\ndef test_other(container): pass\n"
        "@pytest.mark.parametrize('name', ['c', 'c-0'])\n"
        "def test_two(make_container, name): assert make_container() and make_container() and name != 'c'\n")
    outcome = run(folder, sys.executable, "-B", "-m", "pytest", "-p", "purgefs_pytest", "-p", "no:cacheprovider",
                  "--purgefs-reports=reports")
    assert "3 failed, 4 passed" in outcome.stdout, outcome.stdout
    pages = sorted(file.name for file in (folder / "reports").iterdir())
    assert pages[2:] == ["test_it.py-test_other.html", "test_it.py-test_two-c+0.html", "test_it.py-test_two-c+1.html"], pages
    assert len(pages) == 5 and all(name.startswith("test_it.py-test_it-a-b-") for name in pages[:2]), pages
    assert (folder / "reports/test_it.py-test_other.html").read_text() == "mine"


def test_a_folder_that_is_not_utf8(folder):
    """The name of a page, and a run without pages."""
    place = folder / os.fsdecode(b"d\xff")
    place.mkdir()
    (place / "test_it.py").write_text("def test_it(container): assert container.documents.name == 'd'\n")
    for words, count in ([], 0), (["--purgefs-reports=reports"], 1):
        outcome = run(folder, sys.executable, "-B", "-m", "pytest", "-p", "purgefs_pytest", "-p", "no:cacheprovider", *words)
        assert "1 failed" in outcome.stdout, outcome.stdout
        assert len(list(folder.glob("reports/*.html"))) == count


@pytest.mark.parametrize("place", ["container.documents", "'/'"])
def test_page_of_a_test_in_another_folder(folder, place):
    """The page is where it was asked for, and goes when the test passes with another number of containers."""
    body = ["(container.tmp / 'a').touch()", f"os.chdir({place})"]
    outcome = run_test(folder, [*body, "assert os.listdir(container.documents) != []"], "--purgefs-reports=reports")
    assert "1 failed" in outcome.stdout, outcome.stdout
    assert os.listdir(folder / "reports") == ["test_it.py-test_it.html"], outcome.stdout
    (folder / "test_it.py").write_text(
        f"import os\ndef test_it(container, make_container):\n    make_container()\n    os.chdir({place})\n")
    outcome = run(folder, sys.executable, "-B", "-m", "pytest", "-p", "purgefs_pytest", "-p", "no:cacheprovider",
                  "--purgefs-reports=reports")
    assert "1 passed" in outcome.stdout, outcome.stdout
    assert os.listdir(folder / "reports") == []


def test_page_that_cannot_be_written(folder):
    (folder / "reports/test_it.py-test_it.html").mkdir(parents=True)
    outcome = run_test(folder, ["assert False"], "--purgefs-reports=reports")
    assert "1 failed" in outcome.stdout and "not all of it can be shown: purgefs: " in outcome.stdout, outcome.stdout


def test_no_reports_without_failure(folder):
    assert run_test(folder, ["pass"], "--purgefs-reports=reports").returncode == 0
    assert not (folder / "reports").exists()


@pytest.mark.parametrize("name, status", [("SIGINT", 2), ("SIGTERM", -15), ("SIGKILL", -9)])
def test_signal_to_pytest(folder, name, status):
    """A signal ends pytest with its usual status. SIGINT goes to all processes of the terminal, as Ctrl-C sends it."""
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
    for rest in (folder / "tmp").glob("purgefs-sh.*"):  # only the killed shell could have removed them
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


def daemon(container):
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ") + b" "
        except OSError:
            continue
        if b" --foreground " in words and b" " + os.fsencode(container.path) + b" " in words:
            return int(name)
    raise AssertionError("no daemon")


def stop(process):
    """Stops a process, and waits until all its threads have stopped."""
    os.kill(process, signal.SIGSTOP)
    while any("State:\tT" not in file.read_text() for file in pathlib.Path(f"/proc/{process}/task").glob("*/status")):
        time.sleep(0.001)


def await_loss(container):
    with pytest.raises(OSError):
        while True:
            container.read("status.json")


@pytest.mark.parametrize("number", range(10))
def test_daemon_killed(number):
    """The container's end detects that the daemon was killed, before and after the loss can be seen."""
    container = Container(total="64M")
    os.kill(daemon(container), signal.SIGKILL)
    if number % 2:
        await_loss(container)
    with pytest.raises(RuntimeError, match="gone|ended with 125"):
        container.end()


def parent(process):
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


# Where requests come by io_uring, programs that wait for a stopped daemon cannot be killed (docs/POSIX.md).
BY_DEV = pytest.mark.skipif(os.environ.get("PURGEFS_TRANSPORT") == "ring", reason="requests come by io_uring")


@BY_DEV
@pytest.mark.parametrize("with_its_run", [False, True])
def test_daemon_stopped(with_its_run):
    """The end of the container kills a stopped daemon."""
    container = Container(total="64M")
    stopped = daemon(container)
    if with_its_run:
        os.kill(parent(stopped), signal.SIGSTOP)
    stop(stopped)
    with pytest.raises(RuntimeError, match="does not answer"):
        container.expect_purge("tmp/a")
    with pytest.raises(RuntimeError, match="does not answer"):
        container.expect_purge("tmp/a", during=lambda: pytest.fail("it is not performed"))
    with pytest.raises(RuntimeError, match="did not answer .was it stopped.. and was killed"):
        container.end()
    assert not container.path.exists()


@BY_DEV
def test_failure_with_a_daemon_stopped(folder):
    body = ["(container.tmp / 'a').touch()", "container.purge('tmp')", "container.expect_purge('tmp/a')",
            f"import sys; sys.path.insert(0, {PROGRAMS!r}); from harness_ends_test import daemon",
            "os.kill(daemon(container), signal.SIGSTOP)", "assert False"]
    outcome = run_test(folder, body, "--purgefs-reports=reports")
    assert outcome.returncode == 1 and "1 failed, 1 error" in outcome.stdout
    assert '"type": "purge", "path": "tmp/a"' in outcome.stdout
    assert "not all of it can be shown: the daemon of the container does not answer" in outcome.stdout
    assert "did not answer (was it stopped?) and was killed" in outcome.stdout


def test_daemon_killed_while_a_purge_is_expected():
    container = Container(total="64M")
    with pytest.raises(RuntimeError, match="the container is gone"):
        container.expect_purge("tmp/a", 60, during=lambda: os.kill(daemon(container), signal.SIGKILL))
    with pytest.raises(RuntimeError, match="gone|ended with 125"):
        container.end()


def test_verbs_after_the_end():
    with Container(total="64M") as container:
        (container.tmp / "a").touch()
        container.purge("tmp")
    verbs = [
        lambda: container.read("status.json"), lambda: container.write("device.state", "lock"), lambda: container.numbers,
        lambda: container.set(total="1G"), lambda: container.room(), lambda: container.fill(), lambda: container.lock(),
        lambda: container.purge("all"), lambda: container.purge_paths("tmp/b"), lambda: container.plan("all"),
        lambda: container.mark("tmp", excluded=True), lambda: container.attribute("tmp", "tier"),
        lambda: container.expect_purge("tmp/b"), lambda: container.why("tmp/a"), lambda: container.report("page.html"),
        lambda: container.run("true"),
    ]
    for verb in verbs:
        with pytest.raises(RuntimeError, match="the container has ended and can no longer be used: /"):
            verb()
    assert [event["path"] for event in container.events("purge")] == ["tmp/a"]
    assert container.expect_purge("tmp/a")["path"] == "tmp/a"


def test_descriptors_above_1023():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, before[1]), before[1]))
    files = []
    try:
        files = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
        with Container(total="64M") as container:
            assert container._events > 1023
            (container.tmp / "a").touch()
            with pytest.raises(AssertionError, match="tmp/a was not purged"):
                container.expect_purge("tmp/a", within=0.01)
            container.expect_purge("tmp/a", during=lambda: container.purge("tmp"))
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def without_status(folder):
    """Returns a `purgefs run` without messages whose status is always 0."""
    binary = folder / "purgefs"
    binary.write_text(f'#!/bin/sh\n"{os.environ["PURGEFS"]}" "$@" 2>/dev/null\nexit 0\n')
    binary.chmod(0o755)
    return str(binary)


def test_daemon_killed_and_no_status(folder, monkeypatch):
    monkeypatch.setenv("PURGEFS", without_status(folder))
    with Container(total="64M"):
        pass
    container = Container(total="64M")
    os.kill(daemon(container), signal.SIGKILL)
    await_loss(container)
    with pytest.raises(RuntimeError, match="the container was gone before its end"):
        container.end()


FIND_DAEMON = """
    for each in $(grep -l -- --foreground /proc/[0-9]*/cmdline 2>/dev/null); do
        if grep -q "$CONTAINER" $each 2>/dev/null; then each=${each#/proc/}; daemon=${each%/cmdline}; fi
    done
"""


def test_daemon_stopped_in_shell(folder):
    script = "container_begin\n" + FIND_DAEMON + """
        kill -STOP "$CONTAINER_RUN" "$daemon"
        container_expect_purge tmp/a || echo silent
        container_end || echo failed"""
    outcome = shell(folder, script)
    assert outcome.stdout == "silent\nfailed\n" and "cannot tell whether tmp/a was purged: purgefs: no answer" in outcome.stderr
    assert "did not answer (was it stopped?) and was killed" in outcome.stderr, outcome


def test_expected_purges_that_a_shell_cannot_see(folder):
    script = "container_begin\n" + FIND_DAEMON + """
        container_set journal.size=0
        echo x >"$CONTAINER/tmp/a"
        container_expect_purge tmp/a container_purge tmp || echo off
        container_set journal.size=64M
        kill -KILL "$daemon"
        while [ -e "$CONTAINER/.purgefs/status.json" ]; do :; done
        container_expect_purge tmp/a || echo gone
        container_expect_purge tmp/a echo performed || echo gone
        container_end 2>/dev/null || echo failed"""
    outcome = shell(folder, script)
    assert outcome.stdout == "off\ngone\ngone\nfailed\n", outcome
    assert "cannot tell whether tmp/a was purged: the journal is off (journal.size=0)" in outcome.stderr
    assert outcome.stderr.count("cannot tell whether tmp/a was purged: purgefs: no container: ") == 1
    assert outcome.stderr.count("no container") == 2 and "was not purged" not in outcome.stderr


def test_daemon_killed_in_shell(folder):
    """The container's end detects the loss with and without the status of `purgefs run`."""
    for binary in [os.environ["PURGEFS"], without_status(folder)]:
        script = f"""
            PURGEFS={binary}
            container_begin
            for each in $(grep -l -- --foreground /proc/[0-9]*/cmdline 2>/dev/null); do
                if grep -q "$CONTAINER" $each 2>/dev/null; then each=${{each#/proc/}}; kill -KILL "${{each%/cmdline}}"; fi
            done
            while [ -e "$CONTAINER/.purgefs/status.json" ]; do :; done
            container_end || echo failed"""
        outcome = shell(folder, script)
        assert outcome.stdout == "failed\n" and "gone before its end" in outcome.stderr, outcome


def test_directory_in_it(monkeypatch):
    """A test that leaves its working directory in the container does not fail, and the next test has a working directory."""
    before = os.getcwd()
    with Container(total="64M") as container:
        monkeypatch.chdir(container.documents)
    assert os.getcwd() == before
    with Container(total="64M") as container:
        os.chdir(container.tmp)
        subprocess.run([container.binary, "unmount", "--force", str(container.path)], check=True)
        with pytest.raises(RuntimeError, match="is gone"):
            container.end()
    assert os.getcwd() == before


def test_forked_process_lives_on():
    """The end does not wait for a forked process that holds the pipe open."""
    container = Container(total="64M")
    child = multiprocessing.get_context("fork").Process(target=signal.pause)
    child.start()
    try:
        os.close(container._events)  # the child's copy stays open, and is not the app's
        container._events = None
        container.end()
        assert child.is_alive()
    finally:
        child.kill()
        child.join()


def test_marker_by_position(folder):
    (folder / "test_it.py").write_text(
        "import pytest\n@pytest.mark.container('64M')\ndef test_it(container): pass\n")
    outcome = run(folder, sys.executable, "-B", "-m", "pytest", "-p", "purgefs_pytest", "-p", "no:cacheprovider")
    assert outcome.returncode == 1 and "takes options by name" in outcome.stdout


def test_report_of_a_long_name(folder):
    (folder / "test_it.py").write_text(
        "import pytest\n@pytest.mark.parametrize('name', ['\u00e9x' * 300])\n"
        "def test_it(container, name): assert False\n")
    outcome = run(folder, sys.executable, "-B", "-m", "pytest", "-p", "purgefs_pytest", "-p", "no:cacheprovider",
                  "--purgefs-reports=reports")
    assert outcome.returncode == 1 and len(os.listdir(folder / "reports")) == 1


def shell(folder, script):
    return run(folder, "sh", "-c", f". {SCRIPTS}/container.sh\n{script}")


def test_shell_with_a_process_in_the_background(folder):
    script = "container_begin\nsleep 1000 & pid=$!\ncontainer_end; status=$?\nkill $pid && exit $status"
    assert shell(folder, script).returncode == 0


def test_shell_with_a_trap_of_its_own(folder):
    outcome = shell(folder, "trap 'container_end && echo mine' EXIT\ncontainer_begin\nexit 3")
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (3, "mine\n", "")


def test_shell_in_a_directory_of_it(folder):
    outcome = shell(folder, 'container_begin\ncd "$CONTAINER/tmp"\ncontainer_end && pwd')
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, f"{folder}\n", "")


def test_shell_without_a_container(folder):
    """Without a container, each function fails, because it would use the machine's own directories."""
    for function in ["run true", "set others=1M", "mark tmp isPurgeable=1", "room", "number used", "events", "why tmp"]:
        outcome = shell(folder, f"container_{function}")
        assert (outcome.returncode, outcome.stdout) == (1, ""), function
        assert "there is no container" in outcome.stderr


def test_shell_and_a_place_that_is_not_there(folder):
    outcome = shell(folder, "set -u\ncontainer_begin\ncontainer_room nowhere || echo refused")
    assert (outcome.returncode, outcome.stdout) == (0, "refused\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="it mounts a full file system")
def test_shell_on_a_full_disk(folder):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "full", str(folder / "tmp")], check=True)
    try:
        with pytest.raises(OSError), open(folder / "tmp/all", "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        outcome = shell(folder, "container_begin")
        assert outcome.returncode == 1 and "no container: " in outcome.stderr
        assert os.listdir(folder / "tmp") == ["all"]
    finally:
        subprocess.run(["umount", str(folder / "tmp")], check=True)


def test_no_container(monkeypatch):
    with pytest.raises(RuntimeError, match="--total"):
        Container(total="much")
    with pytest.raises(TypeError, match="has no colour"):
        Container(colour="red")
    monkeypatch.setenv("PURGEFS", "/no/purgefs")
    with pytest.raises(RuntimeError, match="PURGEFS names the binary"):
        Container()


def test_many_in_a_row():
    """Containers leave no descriptor, process or memory behind in the test process."""
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
