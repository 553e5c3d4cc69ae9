"""The repository's files, each read once."""
import os
import subprocess

import swift
from lexer import Source


class Tree:
    def __init__(self, root):
        self.root = root
        self.paths = self._listed()
        self.texts = {path: text for path in self.paths if (text := self._read(path)) is not None}
        self.swift = {path: swift.parse(path, text) for path, text in self.texts.items() if path.endswith(".swift")}
        self.c = {path: Source(path, text) for path, text in self.texts.items() if path.endswith((".c", ".h"))}

    def python(self):
        return {path: text for path, text in self.texts.items()
                if path.endswith(".py") or text.startswith("#!/usr/bin/env python3")}

    def _listed(self):
        """Returns the files that git tracks or would add, or all files if there is no git."""
        git = subprocess.run(["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, text=True)
        if git.returncode == 0:
            names = git.stdout.split("\0")
        else:
            names = [os.path.relpath(os.path.join(folder, name), self.root)
                     for folder, _, files in os.walk(self.root) for name in files]
        hidden = (".git/", ".build/")
        return sorted({name for name in names if name and not name.startswith(hidden)
                       and os.path.isfile(os.path.join(self.root, name))})

    def _read(self, path):
        try:
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                return file.read()
        except UnicodeDecodeError:
            return None


def target_of(path):
    """Returns the target of a path: PurgeModel for `Sources/PurgeModel/Tier.swift`."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] in ("Sources", "Tests") else None
