"""Tests with purgefs_pytest.sweep. HarnessTests runs them."""
import json
import os
import subprocess
import sys

import purgefs_pytest
import pytest


def truncate_and_write(path, text):
    file = os.open(path, os.O_WRONLY | os.O_TRUNC)
    try:
        os.write(file, text)
    finally:
        os.close(file)


def replace(path, text):
    file = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        while text:
            text = text[os.write(file, text):]
        os.fsync(file)
    finally:
        os.close(file)
    os.rename(f"{path}.new", path)


class TestSaves:
    """A method is a test like a function."""

    @purgefs_pytest.sweep(moments=["error", "errors", "full", "lock"])
    @pytest.mark.container(total="64M", protection="complete")
    def test_truncate(self, container, moment):
        path = container.documents / "count"
        path.write_bytes(b"41")
        assert not moment.met and moment.error is None
        with moment:
            truncate_and_write(path, b"42")
        calls = {"open#1=EIO": b"41", "open#1+=EIO": b"41", "open#1=lock": b"41", "write#1=lock": b"",
                 "write#1=EIO": b"", "write#1+=EIO": b"", "write#1=full": b"", None: b"42"}
        assert path.read_bytes() == calls[moment.rule]
        assert moment.met == (moment.rule is not None)
        assert isinstance(moment.error, OSError if moment.rule else type(None))
        (container.documents / "other").write_bytes(b"the device is well again")
        assert container.read("device.state") == "unlocked" and container.read("faults") == ""


@purgefs_pytest.sweep
def test_replace(container_home, moment):
    path = os.path.expanduser("~/Documents/count")
    assert path.startswith(str(container_home.path))
    replace(path, b"41")
    with moment:
        replace(path, b"42")
    with open(path, "rb") as file:
        found = file.read()
    assert found == (b"41" if moment.error else b"42") or moment.error and found == b"42"


@purgefs_pytest.sweep(moments=["purge"])
def test_purge(container, moment):
    (container.caches / "a").write_bytes(b"a")
    with moment:
        (container.documents / "b").mkdir()
    assert (container.caches / "a").exists() == (moment.rule is None)


@purgefs_pytest.sweep(moments=["error"], most=3)
def test_most(container, moment):
    with moment:
        for number in range(10):
            (container.tmp / str(number)).mkdir()
        (container.tmp / "0").rename(container.tmp / "x")


def test_same_as_the_verb(container, request, tmp_path):
    program = "import os; [os.mkdir(str(n)) for n in range(10)]; os.rename('0', 'x')"
    swept = container.run(
        container.binary, "sweep", "--json", "--moments", "error", "--most", "3", "--chdir", "--check", "true", "--",
        sys.executable, "-c", program, env=purgefs_pytest._outside({**os.environ, "TMPDIR": str(tmp_path)}), check=True)
    rules = [trial["rule"] for trial in json.loads(swept.stdout)["trials"]]
    assert [item.callspec.params["moment"] for item in request.session.items if "test_most" in item.name][1:] == rules


def leaking_save(path):
    file = open(path, "w")
    file.write("text")
    try:
        file.flush()
    except OSError as error:
        raise OSError(error.errno, "not saved") from error
    file.close()


@purgefs_pytest.sweep(moments=["full"])
def test_what_the_code_leaves_open(container, moment):
    with moment:
        leaking_save(container.documents / "a")
    assert isinstance(moment.error, OSError) or moment.rule is None


@purgefs_pytest.sweep(moments=["error"])
def test_with_rules_of_its_own(container, moment):
    container.fail("mkdir=1ms")
    (container.tmp / "a").mkdir()
    with moment:
        (container.tmp / "b").mkdir()
    assert moment.met == (moment.rule is not None)


def test_cases(request):
    def cases(test):
        return [item.name[len(test) + 1:-1] for item in request.session.items if item.name.startswith(test + "[")]

    assert cases("test_truncate") == [
        "no fault", "open#1=EIO", "write#1=EIO", "open#1+=EIO", "write#1+=EIO", "write#1=full", "open#1=lock", "write#1=lock"]
    assert cases("test_replace")[:5] == ["no fault", "create#1=EIO", "write#1=EIO", "sync#1=EIO", "rename#1=EIO"]
    assert len(cases("test_replace")) == 1 + 4 * 4 + 1 + 1
    assert cases("test_purge") == ["no fault", "mkdir#1=purge"]
    assert cases("test_most") == ["no fault", "rename#1=EIO", "mkdir#1=EIO", "mkdir#6=EIO"]


@pytest.mark.parametrize("moments, most", [("error", None), (["power"], None), ([], None), (["error"], 0)])
def test_arguments(moments, most):
    with pytest.raises(ValueError, match="moments is a list of error, errors, full"):
        purgefs_pytest.sweep(moments=moments, most=most)


@pytest.mark.parametrize("lines, message", [
    (["@purgefs.sweep", "def test(container): pass"], "does not take `moment`"),
    (["@purgefs.sweep", "def test(moment, tmp_path): pass"], "test takes tmp_path: a test with"),
    (["def test(moment): pass"], "needs purgefs_pytest.sweep"),
    (["@purgefs.sweep", "def test(container, moment):", "  with moment: 1 / 0"], "test[no fault] - ZeroDivisionError"),
    (["@purgefs.sweep", "def test(container, moment):", "  with moment: 1 / 0"], "could not be counted: ZeroDivisionError"),
    (["@purgefs.sweep", "def test(container, moment): pass"], "it makes no call in `with moment:` that the faults can meet"),
    (["import pytest", "@purgefs.sweep", "def test(container, moment): pytest.skip('needs x')"], "1 skipped in"),
    (["class Test:", "  def setup_method(self): self.name = 'a'", "  @purgefs.sweep",
      "  def test(self, container, moment):", "    with moment: (container.tmp / self.name).mkdir()"], "not counted"),
    (["@purgefs.sweep(moments=['error'])", "def test(container, moment):", "  with moment:", "    try: (container.tmp / 'a').mkdir()",
      "    except OSError: assert False"], "test[mkdir#1=EIO] - assert False"),
    (["@purgefs.sweep", "def test(container, moment):", "  with moment: pass", "  with moment: pass"], "a test has one `with moment:`"),
    (["@purgefs.sweep(moments=['error'])", "def test(container, moment, seen=[]):", "  seen.append(moment)", "  with moment:",
      "    if len(seen) == 1: (container.documents / 'a').mkdir()"], "the fault mkdir#1=EIO met none"),
])
def test_wrong_use(tmp_path, lines, message):
    (tmp_path / "test_wrong.py").write_text("\n".join(["import purgefs_pytest as purgefs", *lines]))
    outcome = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "purgefs_pytest", "-p", "no:cacheprovider", "-p", "no:xdist",
         "--basetemp", tmp_path / "base", "test_wrong.py"], cwd=tmp_path, capture_output=True, text=True)
    assert message in outcome.stdout, outcome.stdout + outcome.stderr
