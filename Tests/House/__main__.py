"""Checks the shape of the source tree, and prints what it counted.

    python3 Tests/House            from anywhere; `make check` runs it
    python3 Tests/House --largest  the largest types and functions too
    python3 Tests/House --prose    each sentence that the rule prose counts

Rules:
  imports     no target imports a module that the table in docs/ARCHITECTURE.md does not allow, and
              Package.swift names the same dependencies; tools import neither one another nor the engine
  types       no type has over 400 lines or 40 methods, with all its extensions
  functions   no function has over 40 lines
  callbacks   no callback of libfuse has over 8 lines
  proofs      @unchecked, Unmanaged and nonisolated(unsafe) each have a comment at the line or right above it that
              begins with the word and says why it is safe; variables that threads share have one about that
  lifetimes   no descriptor's number is taken from a temporary
  guarded     code that takes the volume's lock uses the state that the lock lends, and keeps nothing of it; no module
              opens another one with @testable
  references  files and headings that comments and pages name exist
  citations   no document is cited that is not in the repository
  documents   types and members that the pages about the source name exist, docs/TESTING.md has a row for each test
              target, and code in pages is fenced
  prose       comments, pages, texts and names of tests use few of the turns of phrase that must be read twice

Exceptions are in exceptions.py, each with its reason. Exits with 1 if there is a finding.
"""
import os
import sys

sys.dont_write_bytecode = True
import documents
import guarded
import imports
import lifetimes
import proofs
import prose
import references
import sizes
from collections import Counter
from exceptions import EXCEPTIONS
from finding import sift
from tree import Tree

RULES = [imports.find, sizes.find_types, sizes.find_functions, sizes.find_callbacks, proofs.find, lifetimes.find, guarded.find,
         references.find, documents.find, prose.find]


def main(words):
    if set(words) & {"-h", "--help"}:
        print(__doc__.strip())
        return 0
    tree = Tree(os.path.realpath(os.path.join(os.path.dirname(__file__), "../..")))
    if "--prose" in words:
        print("\n".join(prose.listed(tree)))
        return 0
    findings, unused = sift([finding for rule in RULES for finding in rule(tree)], EXCEPTIONS)
    for finding in findings:
        print(f"{finding.rule}: {finding}")
    for rule, name in unused:
        print(f"{rule}: the exception of {name} in Tests/House/exceptions.py is not needed any more")
    summary(tree, "--largest" in words)
    counts = Counter(finding.rule for finding in findings)
    print("house: findings: " + (", ".join(f"{rule} {count}" for rule, count in counts.items()) or "none"))
    return 1 if findings or unused else 0


def summary(tree, shows_largest):
    types = sorted(sizes.types(tree.swift).values(), key=lambda each: -each.lines)
    functions = sorted(sizes.functions(tree), key=lambda each: -each[3])
    callbacks = sorted(sizes.callbacks(tree), key=lambda each: -each[3])
    methods = max(types, key=lambda each: each.methods)
    print(f"house: {len(tree.swift)} Swift files, {len(types)} types, {len(functions)} functions, "
          f"{len(callbacks)} callbacks of at most {callbacks[0][3] if callbacks else 0} lines")
    print(f"house: largest type {types[0].name} ({types[0].lines} lines), most methods {methods.name} "
          f"({methods.methods}), longest function {functions[0][1]} ({functions[0][3]} lines)")
    print("house: " + ", ".join(f"{word} {ours} ({theirs} in tests)" for word, (ours, theirs) in proofs.counts(tree).items())
          + f"; exceptions: {sum(map(len, EXCEPTIONS.values()))}")
    if shows_largest:
        for each in types[:30]:
            print(f"  {each.lines:5} lines {each.methods:4} methods  {each.name}  {each.places[0]}")
        for path, name, line, lines in functions[:30]:
            print(f"  {lines:5} lines  {name}  {path}:{line}")


sys.exit(main(sys.argv[1:]))
