"""flock, POSIX and open-file-description locks between processes, until close, exec and death; leases."""
import errno
import fcntl
import os
import signal
import struct

from posix_check import Child, call, check, eventually, got, in_child, put, value

OFD_GETLK, OFD_SETLK, OFD_SETLKW = 36, 37, 38
READ, WRITE, UNLOCK = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK


def opened(flags=os.O_RDWR):
    if not os.path.exists("f"):
        put("f", b"x" * 1000)
    return os.open("f", flags)


def lock(descriptor, kind, start=0, length=0, command=fcntl.F_SETLK, whence=0):
    return fcntl.fcntl(descriptor, command, struct.pack("hhqqi4x", kind, whence, start, length, 0))


def holder(descriptor, kind, start=0, length=0, command=fcntl.F_GETLK):
    """Returns (kind, start, length) of the conflicting lock, without the pid, which is different each time."""
    answer = struct.unpack("hhqqi4x", fcntl.fcntl(descriptor, command, struct.pack("hhqqi4x", kind, 0, start, length, 0)))
    return [answer[0], answer[2], answer[3]] if answer[0] != UNLOCK else "free"


def elsewhere(function, *arguments):
    """Returns the outcome in another process with its own descriptor."""
    return in_child(lambda: value(function, os.open("f", os.O_RDWR), *arguments))


@check
def flock_between_processes():
    descriptor, result = opened(), []
    for mine in (fcntl.LOCK_SH, fcntl.LOCK_EX, fcntl.LOCK_UN):
        fcntl.flock(descriptor, mine)
        result += [elsewhere(fcntl.flock, fcntl.LOCK_SH | fcntl.LOCK_NB), elsewhere(fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB)]
    return result + [got(fcntl.flock, descriptor, 0), got(fcntl.flock, os.open("f", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)]


@check
def flock_belongs_to_the_open_file():
    first, second = opened(), opened()
    copy = os.dup(first)
    fcntl.flock(first, fcntl.LOCK_EX)
    result = [got(fcntl.flock, second, fcntl.LOCK_SH | fcntl.LOCK_NB), got(fcntl.flock, copy, fcntl.LOCK_EX | fcntl.LOCK_NB)]
    os.close(first)
    result.append(got(fcntl.flock, second, fcntl.LOCK_SH | fcntl.LOCK_NB))
    os.close(copy)
    return result + [got(fcntl.flock, second, fcntl.LOCK_EX | fcntl.LOCK_NB), elsewhere(fcntl.flock, fcntl.LOCK_SH | fcntl.LOCK_NB)]


@check
def flock_waits_until_it_is_free():
    descriptor = opened()
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    reader, writer = os.pipe()

    def wait():
        mine = os.open("f", os.O_RDWR)
        os.write(writer, b"x")
        fcntl.flock(mine, fcntl.LOCK_EX)
        return os.pread(mine, 4, 0)
    child = Child(wait)
    os.read(reader, 1)
    eventually(lambda: blocked(child.pid), "the child to wait")
    os.pwrite(descriptor, b"done", 0)
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return child.result()


def blocked(pid):
    """Returns whether the process waits for a lock."""
    with open("/proc/locks") as locks:
        return any("->" in line and f" {pid} " in line for line in locks)


@check
def flock_of_a_killed_process_is_free():
    opened()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        fcntl.flock(os.open("f", os.O_RDWR), fcntl.LOCK_EX)
        os.write(writer, b"x")
        signal.pause()
    os.read(reader, 1)
    result = [elsewhere(fcntl.flock, fcntl.LOCK_SH | fcntl.LOCK_NB)]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return result + [elsewhere(fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB)]


@check
def flock_of_directories_and_others():
    os.mkdir("d")
    os.mkfifo("p")
    directory, fifo = os.open("d", os.O_RDONLY), os.open("p", os.O_RDWR)
    return [got(fcntl.flock, directory, fcntl.LOCK_EX), in_child(lambda: got(fcntl.flock, os.open("d", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)),
            got(fcntl.flock, fifo, fcntl.LOCK_SH), got(lock, directory, WRITE), got(lock, directory, READ)]


@check
def record_locks_between_processes():
    descriptor = opened()
    lock(descriptor, WRITE, 100, 50)
    lock(descriptor, READ, 200, 10)
    return [[kind, start, length, elsewhere(holder, kind, start, length)]
            for kind in (READ, WRITE) for start, length in ((0, 100), (0, 101), (149, 1), (150, 50), (200, 1), (205, 0), (210, 0), (0, 0))]


@check
def record_locks_split_and_join():
    descriptor = opened()
    lock(descriptor, WRITE, 0, 100)
    lock(descriptor, UNLOCK, 40, 20)
    result = [elsewhere(holder, WRITE, at, length) for at, length in ((0, 10), (40, 20), (39, 2), (60, 40), (30, 40))]
    lock(descriptor, READ, 0, 20)
    result += [elsewhere(holder, READ, 0, 20), elsewhere(holder, READ, 0, 21), elsewhere(holder, WRITE, 0, 1)]
    lock(descriptor, UNLOCK)
    return result + [elsewhere(holder, WRITE)]


@check
def record_locks_errors():
    descriptor = opened()
    return [got(lock, os.open("f", os.O_RDONLY), WRITE), got(lock, os.open("f", os.O_WRONLY), READ), got(lock, os.open("f", os.O_RDONLY), READ),
            got(lock, descriptor, WRITE, -1, 10), got(lock, descriptor, WRITE, 10, -5), got(lock, descriptor, 77), got(lock, descriptor, WRITE, 5, -10),
            got(lock, os.open("f", os.O_PATH), WRITE)]


@check
def record_locks_go_with_any_close():
    descriptor, other = opened(), opened()
    lock(descriptor, WRITE)
    result = [elsewhere(holder, WRITE)]
    os.close(other)
    return result + [elsewhere(holder, WRITE)]


@check
def record_locks_are_not_inherited():
    descriptor = opened()
    lock(descriptor, WRITE)
    return [in_child(lambda: got(lock, descriptor, WRITE)), in_child(lambda: holder(descriptor, READ)), got(lock, descriptor, READ)]


@check
def record_locks_outlive_exec():
    opened()
    reader, writer = os.pipe()
    ready, tell = os.pipe()
    put("g")
    pid = os.fork()
    if pid == 0:
        mine = os.open("f", os.O_RDWR)
        os.set_inheritable(mine, True)
        lock(mine, WRITE, 10, 10)
        fcntl.flock(os.open("g", os.O_RDWR), fcntl.LOCK_EX)
        os.dup2(reader, 0)
        os.dup2(tell, 1)
        os.execl("/bin/sh", "sh", "-c", "echo x; read line")
    os.read(ready, 1)
    result = [elsewhere(holder, WRITE, 10, 1), got(fcntl.flock, os.open("g", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)]
    os.write(writer, b"go\n")
    os.waitpid(pid, 0)
    return result + [elsewhere(holder, WRITE, 10, 1)]


@check
def record_locks_find_deadlocks():
    first = opened()
    lock(first, WRITE, 0, 1)
    reader, writer = os.pipe()

    def other():
        mine = os.open("f", os.O_RDWR)
        lock(mine, WRITE, 1, 1)
        os.write(writer, b"x")
        return got(lock, mine, WRITE, 0, 1, fcntl.F_SETLKW)
    child = Child(other)
    os.read(reader, 1)
    eventually(lambda: blocked(child.pid), "the child to wait")
    result = [got(lock, first, WRITE, 1, 1, fcntl.F_SETLKW)]
    lock(first, UNLOCK)
    return result + [child.result()]


@check
def record_lock_waits_are_interrupted():
    descriptor = opened()
    lock(descriptor, WRITE)

    def wait():
        class Alarm(Exception):
            pass

        def ring(*_):
            raise Alarm
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            lock(os.open("f", os.O_RDWR), WRITE, 0, 0, fcntl.F_SETLKW)
        except Alarm:
            return "interrupted"
    return in_child(wait)


@check
def ofd_locks():
    first, second = opened(), opened()
    lock(first, WRITE, 0, 100, OFD_SETLK)
    result = [got(lock, second, WRITE, 50, 10, OFD_SETLK), holder(second, READ, 50, 10, OFD_GETLK), got(lock, second, WRITE, 100, 10, OFD_SETLK),
              elsewhere(lock, READ, 0, 1, OFD_SETLK), in_child(lambda: got(lock, first, READ, 0, 1, OFD_SETLK)), got(lock, second, WRITE, 0, 1)]
    copy = os.dup(first)
    os.close(opened())
    os.close(first)
    result.append(got(lock, second, WRITE, 10, 1, OFD_SETLK))
    os.close(copy)
    return result + [got(lock, second, WRITE, 10, 1, OFD_SETLK)]


@check
def locks_of_an_unlinked_file():
    descriptor, again = opened(), opened()
    os.unlink("f")
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    lock(descriptor, WRITE, 5, 5)
    result = [got(fcntl.flock, again, fcntl.LOCK_SH | fcntl.LOCK_NB), in_child(lambda: holder(again, READ))]
    put("f")
    return result + [elsewhere(fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB), elsewhere(holder, WRITE)]


@check
def locks_do_not_stop_io():
    descriptor = opened()
    lock(descriptor, WRITE)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return in_child(lambda: [os.pwrite(os.open("f", os.O_RDWR), b"y", 0), os.truncate("f", 10), os.unlink("f")])


@check
def leases():
    reader = opened(os.O_RDONLY)
    result = [value(fcntl.fcntl, reader, fcntl.F_GETLEASE), got(fcntl.fcntl, reader, fcntl.F_SETLEASE, READ), value(fcntl.fcntl, reader, fcntl.F_GETLEASE)]
    result += [got(fcntl.fcntl, reader, fcntl.F_SETLEASE, UNLOCK), value(fcntl.fcntl, reader, fcntl.F_GETLEASE)]
    return result
