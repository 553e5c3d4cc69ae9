"""Descriptors have a name while their number is used."""
import re

from finding import Finding

# In `directory(of: node).raw`, Swift may release the temporary, which closes the descriptor, before the call that receives its
# number. A named value lives until the call has returned.
TEMPORARY = re.compile(r"[)\]]\s*\.raw\b")


def find(tree):
    for path, file in tree.swift.items():
        for found in TEMPORARY.finditer(file.source.code):
            place = f"{path}:{file.source.line(found.start())}"
            yield Finding("lifetimes", place, place, "the descriptor may be closed before its number is used: name it")
