"""A reader of a folder that goes as a whole: folder_reader.py FOLDER RECLAIM COUNT

Makes COUNT files, lists the folder by its path all the time, and purges it meanwhile. Prints the numbers of names that the listings
had, in the order of their first occurrence: all, and then none. Leaves out a listing during which the folder moved away, because
it may have lost files when it ended.
"""

import os
import sys
import threading

folder, reclaim, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(count):
    with open(f"{folder}/{number}", "w") as file:
        file.write("x")

seen = {}
done = threading.Event()
ready = threading.Event()


def read():
    while not done.is_set():
        try:
            before = os.stat(folder).st_ino
            names = os.listdir(folder)
            if os.stat(folder).st_ino == before:
                seen[len(names)] = True
        except FileNotFoundError:
            seen["missing"] = True
        ready.set()


reader = threading.Thread(target=read)
reader.start()
ready.wait()
with open(reclaim, "w") as file:
    file.write("caches")
seen[len(os.listdir(folder))] = True
done.set()
reader.join()
print(*seen)
