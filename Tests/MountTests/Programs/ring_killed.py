"""Writes, purges and looks up until the daemon is killed. Writes the names of synced files to a file."""
import os
import sys
import threading

root, path = sys.argv[1], sys.argv[2]
synced = open(path, "w")


def work(number):
    done = 0
    try:
        while True:
            name = f"{os.getpid()}.{number}.{done}"
            file = os.open(f"{root}/Documents/{name}", os.O_CREAT | os.O_RDWR)
            os.write(file, b"x" * 8192)
            os.fsync(file)
            os.close(file)
            synced.write(name + "\n")
            os.close(os.open(f"{root}/Library/Caches/{name}", os.O_CREAT | os.O_RDWR))
            os.truncate(f"{root}/Library/Caches/{name}", 8192)
            os.statvfs(root)
            os.listdir(f"{root}/Library/Caches")
            done += 1
    except OSError:
        pass


threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
synced.close()
