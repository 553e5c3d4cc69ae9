#!/usr/bin/env python3
"""An ordinary small app for `make demo`, which does not know about purgefs.

It imports made-up photos. Each becomes a row of $HOME/Documents/photos.db and a thumbnail in $XDG_CACHE_HOME, and every
tenth leaves an export in $TMPDIR. Like a well-behaved app, it continues without thumbnails when there is no room for them.
"""
import errno
import os
import random
import sqlite3
import sys
import tempfile

PHOTOS = int(sys.argv[1]) if len(sys.argv) > 1 else 400
THUMBNAIL = 128 * 1024
EXPORT = 256 * 1024


def main():
    noise = random.Random(1)
    documents = os.path.join(os.environ["HOME"], "Documents")
    thumbnails = os.path.join(os.environ["XDG_CACHE_HOME"], "thumbnails")
    os.makedirs(thumbnails, exist_ok=True)
    with open(os.path.join(documents, "diary.txt"), "w") as diary:
        diary.write("Dear diary, today I imported my photos.\n" * 1000)
    database = sqlite3.connect(os.path.join(documents, "photos.db"))
    database.execute("CREATE TABLE photo (id INTEGER PRIMARY KEY, name TEXT, image BLOB)")
    cached = 0
    for i in range(PHOTOS):
        with database:
            database.execute("INSERT INTO photo (name, image) VALUES (?, ?)", (f"IMG_{i:04}", noise.randbytes(2000)))
        if cached == i:
            try:
                with open(os.path.join(thumbnails, f"IMG_{i:04}.jpg"), "wb") as thumbnail:
                    thumbnail.write(noise.randbytes(THUMBNAIL))
                cached += 1
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                print(f"photo-app: thumbnail of photo {i}: {error.strerror}; going on without thumbnails")
        if i % 10 == 0 and cached > i:
            with open(os.path.join(tempfile.gettempdir(), f"export-{i:04}.png"), "wb") as export:
                export.write(noise.randbytes(EXPORT))
    database.close()
    print(f"photo-app: {PHOTOS} photos imported, {cached} with a thumbnail")


if __name__ == "__main__":
    main()
