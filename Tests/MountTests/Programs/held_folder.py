"""Runs commands that need a folder whose lock a program holds. They return once their work is done.

held_folder.py MOUNT make: creates two files with a name in each of two folders, for a mount that has looked nothing up yet.
held_folder.py MOUNT lock: locks the device while both files are open by the other folder's names. The daemon knows one of them
by the name that the kernel has not looked up.
held_folder.py MOUNT launch: launches the app while its container is being listed."""
import ctypes
import errno
import mmap
import os
import sys
import time

from held_memory import PAGE, HeldMemory, eventually, held_by_a_rename, in_thread, libc

SYS_GETDENTS64 = {"x86_64": 217}.get(os.uname().machine, 61)

mount, part = sys.argv[1:]
folders = [f"{mount}/Documents/a", f"{mount}/Documents/b"]


def command(name, text):
    with open(f"{mount}/.purgefs/{name}", "wb", buffering=0) as file:
        file.write(text.encode())


def value(name):
    with open(f"{mount}/.purgefs/{name}") as file:
        return file.read().strip()


def make():
    for folder in folders:
        os.mkdir(folder)
        for name in ("written", "renamed"):
            with open(f"{folder}/{name}", "wb"):
                pass
    for name in ("0", "1"):
        with open(f"{folders[0]}/{name}", "wb") as file:
            file.write(b"x" * PAGE)
        os.setxattr(f"{folders[0]}/{name}", "user.purgefs.fileProtection", b"complete")
        os.link(f"{folders[0]}/{name}", f"{folders[1]}/{name}")


def lock():
    maps = [mmap.mmap(os.open(f"{folder}/{name}", os.O_RDWR), PAGE) for name, folder in enumerate(folders)]
    releases = [held_by_a_rename(f"{folder}/renamed", f"{folder}/written") for folder in folders]
    for text in (b"first", b"again"):
        for memory in maps:
            memory[0:5] = text
        command("device.state", "lock")
        command("device.clock", "+10s")
        assert value("device.state") == "locked"
        for memory in maps:
            try:
                os.write(sink, memory)
                sys.exit("the mapping can be read on a locked device")
            except OSError as error:
                assert error.errno == errno.EFAULT, error
        command("device.state", "unlock")
        assert [memory[0:5] for memory in maps] == [text, text]
    for release in releases:
        release()


def launch():
    memory = HeldMemory()
    folder = os.open(mount, os.O_RDONLY | os.O_DIRECTORY)
    lister, _ = in_thread(lambda: libc.syscall(SYS_GETDENTS64, folder, ctypes.c_void_p(memory.address), PAGE))
    memory.await_call()
    command("app.state", "delete")
    command("app.state", "launch")
    began = time.monotonic()
    for text in ("unlock", "reboot") * 4:
        command("device.state", text)
    took = time.monotonic() - began
    # Waiting for the folder would take two seconds each time.
    assert took < 8, f"they waited for the folder for {took} s"
    memory.release()
    lister.join()
    eventually("folders", lambda: os.path.isdir(f"{mount}/tmp"))


reader, sink = os.pipe()
{"make": make, "lock": lock, "launch": launch}[part]()
