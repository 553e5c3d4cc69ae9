import os
import sqlite3
import sys

from diskcache import Cache

# Values above 32 KiB are files of their own, beside the database.
directory = os.path.join(os.path.expanduser("~"), os.environ.get("WHERE", "Library/Caches"), "cache")
VALUE = 100_000


def shown(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace(os.path.expanduser("~"), "HOME")


def fill(cache):
    for n in range(40):
        cache[n] = os.urandom(VALUE)


def look(cache):
    hits = sum(cache.get(n) is not None for n in range(40))
    files = sum(name.endswith(".val") for _, _, names in os.walk(directory) for name in names)
    print(f"keys {len(cache)}, hits {hits}, files {files}, volume {cache.volume() // 1000} KB")


def main():
    cache = shown(lambda: Cache(directory))
    if isinstance(cache, str):
        return print(cache)
    for word in sys.argv[1:]:
        if word == "fill":
            print("fill:", shown(lambda: fill(cache)))
        elif word == "look":
            shown(lambda: look(cache))
        elif word == "check":
            print("check:", len(shown(lambda: cache.check(fix=True))), "warnings")
        elif word == "small":
            print("small:", shown(lambda: cache.set("small", "value")), shown(lambda: cache.get("small")))
        elif word == "expiring":
            print("expiring:", shown(lambda: cache.set("expiring", "value", expire=86400)))
        elif word == "expired":
            print("expired:", shown(lambda: cache.get("expiring")))
        else:
            os.system(word)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    main()
