"""The tests of harness.sh in Python: fill, purge, no space, lock, and weeks later. Run by pytest with purgefs_pytest."""

import errno
import os
import pathlib
import tempfile

import pytest

pytestmark = pytest.mark.container(total="64M", others="8M")


def test_a_temporary_folder_of_pytest(container_home, tmp_path):
    """This is the first test with `tmp_path`, for which pytest then makes the folder of the session."""
    assert not tmp_path.is_relative_to(container_home.path)


def test_fill_and_no_space(container):
    container.fill(leaving="1M")
    assert container.room() == container.numbers.important == 1048576
    (container.documents / "fits").write_bytes(bytes(1048576))
    with pytest.raises(OSError) as refused:
        (container.documents / "more").write_bytes(b"x")
    assert refused.value.errno == errno.ENOSPC
    assert [event["path"] for event in container.events("refused")] == ["Documents/more"]
    container.fill(leaving="2M")
    assert container.room() == 2097152


def test_fill_of_caches(container):
    container.fill(leaving=8192, place="Library/Caches")
    (container.caches / "fits").write_bytes(bytes(8192))
    with pytest.raises(OSError):
        (container.caches / "more").write_bytes(b"x")
    assert container.numbers.opportunistic == 0 < container.numbers.important


def test_purge(container):
    (container.caches / "thumbnail").write_bytes(bytes(20 << 20))
    (container.tmp / "upload").write_bytes(bytes(4096))
    (container.documents / "photo").write_bytes(bytes(4096))
    assert container.numbers.reclaimable == (20 << 20) + 4096
    assert [line["path"] for line in container.plan("all")] == ["tmp/upload", "Library/Caches/thumbnail"]
    assert [line["path"] for line in container.purge("tmp")] == ["tmp/upload"]
    container.set(others="+40M")
    assert container.expect_purge("Library/Caches/thumbnail")["reason"] == "caches"
    assert os.listdir(container.caches) == [] and os.listdir(container.documents) == ["photo"]
    assert "purged" in container.why("Library/Caches/thumbnail")


def test_a_purge_of_open_files(container):
    with open(container.tmp / "a", "wb") as a, open(container.caches / "b", "wb") as b:
        for file in (a, b):
            file.write(bytes(4096))
            file.flush()
        assert container.purge("tmp") == []
        assert container.purge("tmp", even_open=True) == [{"path": "tmp/a", "reason": "command", "bytes": 0}]
        assert [line["path"] for line in container.purge_paths(container.caches, even_open=True)] == ["Library/Caches/b"]
        assert os.listdir(container.tmp) == os.listdir(container.caches) == [] and container.numbers.used == 8192
    assert container.numbers.used == 0
    with pytest.raises(OSError, match="storage.reclaim has refused 'evenOpen all'"):
        container.purge("all", even_open=True)


def test_a_purge_answers_one_call(container):
    photo = container.caches / "photo"
    photo.write_bytes(bytes(4096))
    container.purge("caches")
    container.expect_purge(photo)
    photo.write_bytes(bytes(4096))                  # the app fetches it again
    with pytest.raises(AssertionError, match="does not count"):
        container.expect_purge(photo, within=0)
    position = container.position
    with pytest.raises(AssertionError, match="does not count"):
        container.expect_purge(photo, within=0, during=lambda: None)
    assert container.expect_purge(photo, during=lambda: container.purge("caches"))["seq"] > position
    assert container.expect_purge(photo, after=position)["seq"] > position
    assert len(container.events("purge", photo)) == 2 and len(container.events("purge", photo, position)) == 1
    with pytest.raises(AssertionError, match="not after event"):
        container.expect_purge(photo, within=0, after=container.position)


def test_a_name_that_is_not_utf_8(container):
    """Every function takes a name that is not UTF-8. Events show it with U+FFFD."""
    for path in [b"tmp/a\xff\xc3b", os.fsdecode(b"tmp/a\xff\xc3b"), container.tmp / os.fsdecode(b"a\xff\xc3b")]:
        (container.tmp / os.fsdecode(b"a\xff\xc3b")).write_bytes(b"x")
        container.mark(path, purgeable="low")
        assert container.attribute(path, "tier") == "temporary" and container.room(path) > 0
        with pytest.raises(AssertionError, match="a\ufffd\ufffdb was not purged"):
            container.expect_purge(path, within=0)
        assert len(container.purge_paths(path)) == 1
        event = container.expect_purge(path)
        assert event["path"] == "tmp/a\ufffd\ufffdb" and event in container.events("purge", path)
        assert "was purged" in container.why(path)
    with pytest.raises(RuntimeError, match="events spell several names this way"):
        container.assert_not_purged("tmp/a\ufffd\ufffdb")
    assert container.run("printf", r"a\377").stdout == os.fsdecode(b"a\xff")
    assert container.run("printf", r"a\377", text=False).stdout == b"a\xff"


def purge_many(container):
    for number in range(6000):
        (container.caches / f"thumbnail-{number}").write_bytes(b"x")
    container.events()
    container.purge("caches")


@pytest.mark.container(total="1G", thresholds="off")
def test_more_events_than_a_reader_is_told(container):
    purge_many(container)
    assert container.events("dropped") == []
    numbers = [event["seq"] for event in container.events("purge")]
    assert len(numbers) == 6000 and numbers == sorted(set(numbers))
    container.expect_purge("Library/Caches/thumbnail-0", within=0)


@pytest.mark.container(total="1G", thresholds="off", journal_size=0)
def test_events_that_are_lost(container):
    purge_many(container)
    missed = sum(int(event["reason"].split(" ")[0]) for event in container.events("dropped"))
    assert missed > 0 and len(container.events("purge")) + missed == 6000
    with pytest.raises(AssertionError, match=f"cannot tell whether .* was purged: {missed} events"):
        container.expect_purge("Library/Caches/thumbnail-0", within=0)


def test_lock(container):
    secret = container.documents / "secret"
    secret.write_text("key")
    container.mark(secret, protection="complete")
    container.lock()
    with pytest.raises(PermissionError):
        secret.read_text()
    assert container.events("protectionDenied", secret)
    container.unlock()
    assert secret.read_text() == "key"
    container.set(device_inactivity="5m")
    container.mark(secret, protection="completeWhenUserInactive")
    container.lock()
    assert secret.read_text() == "key"
    container.advance("5m")
    with pytest.raises(PermissionError):
        secret.read_text()
    assert container.status["device"]["inactive"] and container.read("device.state") == "locked"
    (container.tmp / "a").touch()
    container.reboot()
    assert not (container.tmp / "a").exists() and container.read("device.state") == "beforeFirstUnlock"


def test_weeks_later(container):
    feed = container.documents / "feed"
    feed.mkdir()
    container.mark(feed, after="1w")
    (feed / "old").write_bytes(bytes(4096))
    before = (feed / "old").stat().st_mtime
    container.advance("3w")
    assert before - (feed / "old").stat().st_mtime == pytest.approx(3 * 7 * 86400, abs=60)
    (feed / "new").write_bytes(bytes(4096))
    container.app("terminate")
    container.app("launch")
    assert container.expect_purge("Documents/feed/old")["trigger"] == "policy"
    assert os.listdir(feed) == ["new"]


@pytest.mark.container(profile="device")
def test_faults_and_states(container):
    container.fail("write@Documents/*#2=ENOSPC", "mkdir=EPERM")
    with open(container.documents / "a", "wb", buffering=0) as file:
        file.write(b"1")
        with pytest.raises(OSError, match="No space left"):
            file.write(b"2")
    with pytest.raises(PermissionError):
        (container.documents / "b").mkdir()
    container.end_faults()
    assert [event["cause"] for event in container.events("fault")] == ["write#2", "mkdir#1"]
    (container.documents / "b").mkdir()
    # The state of the app reaches no process, because none is named: the container stays, and its end is as quick as ever.
    container.app("suspend")
    assert container.read("app.state") == "suspended"
    container.app("background")
    (container.caches / "c").write_bytes(bytes(4096))
    container.purge("caches")
    assert container.read("app.state") == "terminated" and not (container.caches / "c").exists()
    container.app("launch")
    container.app("suspend")


@pytest.mark.container(others="16M", thresholds="off")
def test_markers_add_up(container):
    assert container.numbers[:2] == (64 << 20, 16 << 20)
    assert container.numbers.opportunistic == 48 << 20


@pytest.mark.parametrize("container", [{"profile": "device", "purge_latency": 0}], indirect=True)
def test_parameters(container):
    assert container.status["profile"] == "device" and container.numbers.others == 8 << 20


def test_programs_and_mistakes(container):
    assert container.run("sh", "-c", "cd && pwd -P").stdout.strip() == str(container.path)
    with pytest.raises(OSError, match="storage.others has refused"):
        container.set(others="much")
    with pytest.raises(OSError, match="Documents has refused protection='secret': Invalid argument"):
        container.mark("Documents", protection="secret")
    with pytest.raises(OSError, match="storage.plan has refused 'everything': Invalid argument"):
        container.plan("everything")
    with pytest.raises(OSError, match="app.state has refused 'start'.*; allowed: launch, background, suspend, "):
        container.app("start")
    with pytest.raises(OSError, match="refused protection='secret'.*; allowed: complete, completeUnlessOpen, "):
        container.mark("Documents", protection="secret")
    with pytest.raises(TypeError, match="has no size"):
        container.set(size="1M")
    with pytest.raises(ValueError, match="4096"):
        container.fill(leaving=1000)
    container.fill(leaving="2048KB")                # KB, MB and GB are powers of 1000
    assert container.room() == 2048000
    with pytest.raises(AssertionError, match="keep was not purged"):
        (container.documents / "keep").touch()
        container.expect_purge("Documents/keep", within=0)
    with pytest.raises(TypeError, match="exclude each other"):
        container.expect_purge("Documents/keep", within=0, after=0, during=lambda: None)
    with pytest.raises(TypeError, match="takes a function"):
        container.expect_purge("Documents/keep", during="soon")
    with pytest.raises(TypeError, match="takes a `position`, not 'now'"):
        container.expect_purge("Documents/keep", after="now")
    with pytest.raises(ValueError, match="no event type 'purged'; the types are .*purge"):
        container.events("purged")
    with pytest.raises(TypeError, match="mark takes a flag: purgeable, "):
        container.mark("Documents/keep")
    container.mark("Documents/keep", protection="none")
    assert container.attribute("Documents/keep", "protection") == container.attribute("Documents/keep", "fileProtection")
    assert container.attribute("Documents/keep", "excluded") is None
    with pytest.raises(OSError, match="Documents/keep has no attribute nonsense"):
        container.attribute("Documents/keep", "nonsense")


def test_options_by_name(make_container):
    with pytest.raises(TypeError, match="takes options by name"):
        make_container("64M")


def test_open_in_a_cycle(make_container):
    """A file that only garbage keeps open does not keep the container in use."""
    class Index:
        def __init__(self, path):
            self.itself, self.file = self, open(path, "w")

    Index(make_container(total="64M").documents / "index")



def test_not_purged(container):
    photo = container.caches / "photo"
    photo.write_bytes(bytes(4096))
    container.assert_not_purged(photo)
    container.purge("caches")
    with pytest.raises(AssertionError, match="Library/Caches/photo was purged, event .*Library/Caches"):
        container.assert_not_purged("Library/Caches/photo")
    container.assert_not_purged(photo, after=container.position)


def test_paths_outside(container, tmp_path):
    (tmp_path / "out").touch()
    (container.documents / "link").symlink_to(tmp_path)
    (container.documents / "in").symlink_to(container.caches)
    for path in ("/etc/passwd", tmp_path / "out", "../out", container.documents / "link/out"):
        for act in (lambda: container.mark(path, excluded=True), lambda: container.room(path),
                    lambda: container.assert_not_purged(path), lambda: container.purge_paths(path)):
            with pytest.raises(ValueError, match="is not in the container"):
                act()
    (container.caches / "photo").touch()
    container.purge_paths("Library/Caches/photo")
    with pytest.raises(AssertionError, match="Library/Caches/photo was purged"):
        container.assert_not_purged("Documents/in/photo")
    with pytest.raises(ValueError, match="empty command"):
        container.app("")


def test_code_in_this_process(container_home, make_container):
    assert pathlib.Path.home() == container_home.path and tempfile.gettempdir() == str(container_home.tmp)
    with tempfile.NamedTemporaryFile() as file:
        assert pathlib.Path(file.name).parent == container_home.tmp
    assert os.environ["XDG_CACHE_HOME"] == str(container_home.caches)
    other = make_container(total="64M")             # its store is not in the first container
    assert not other.path.is_relative_to(container_home.path)


def test_the_environment_is_restored(container):
    assert pathlib.Path.home() != container.path and "PURGEFS_MOUNT" not in os.environ
    assert not tempfile.gettempdir().startswith(str(container.path))


@pytest.mark.parametrize("number", range(20))
def test_at_once(make_container, number):
    one, other = make_container(total="64M"), make_container(total=f"{64 + number}M")
    (one.documents / "a").write_text(str(number))
    assert other.numbers.total == (64 + number) << 20 and os.listdir(other.documents) == []
    assert (one.documents / "a").read_text() == str(number)
