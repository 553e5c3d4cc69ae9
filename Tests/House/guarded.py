"""Code that takes the volume's lock uses the state that the lock lends, and reaches guarded data only through it.

The compiler enforces most of this: outside PurgeTree, the mutable part of a node is reachable only as `state[node]`, and a
closure that is lent the state cannot return it. The compiler accepts four things that this rule finds: a variable outside the
closure that keeps the state, which must name its type; a closure that takes the lock and does not use the state, so that it
must rely on something that the types do not express; a second tree, whose subscript would accept any node; and a module that
opens PurgeTree with `@testable`.
"""
import re

from finding import Finding

PLACES = ("Sources/PurgeVolume/", "Sources/PurgeFUSE/")
# Calls whose closure gets the state.
LENDERS = "read|change|awaitTurn|admitting|unlessGoing|inSlices"
LOCKED = re.compile(r"(?:\b(?:" + LENDERS + r")\b\s*(?:\([^(){}]*\)?\s*)?|\bthen:\s*)\{")
# `state in`, `(state) throws(Errno) -> Value? in`, `node, state -> Value? in`
PARAMETERS = re.compile(r"\s*(\(?[\w\s,]+\)?)\s*(?:throws(?:\(\w+\))?\s*)?(?:->[^{}\n]*?)?\bin\b")
TESTABLE = re.compile(r"@testable\b")
# Uses of the type's name other than in its declaration, an extension, a lent parameter, or the result of a subscript.
STORED = re.compile(r"(?<!extension )(?<!borrowing )(?<!inout )(?<!-> )(?<!struct )\bNodeState\b(?!\s*\()")
# A new tree or state. The volume has one of each, made here.
MADE = re.compile(r"\b(?:Tree|VolumeState)\((?=device:)")
MAKERS = ("Sources/PurgeVolume/VolumeCore.swift", "Sources/PurgeVolume/VolumeState.swift")


def find(tree):
    for path, file in tree.swift.items():
        code = file.source.code
        if path.startswith("Sources/"):
            for found in TESTABLE.finditer(code):
                yield finding(path, file, found, "a module opens another one with @testable")
            for found in STORED.finditer(code):
                yield finding(path, file, found, "a NodeState is for one expression: no variable has one")
        if path.startswith(PLACES):
            for found in MADE.finditer(code) if path not in MAKERS else ():
                yield finding(path, file, found, "the volume has only one tree, which is under its lock")
            for found in LOCKED.finditer(code):
                if ignores_state(body(code, found.end())):
                    yield finding(path, file, found, "takes the lock and does not use the state")


def finding(path, file, found, what):
    place = f"{path}:{file.source.line(found.start())}"
    return Finding("guarded", place, place, what)


def body(code, start):
    """The text of a closure without its braces."""
    depth = 1
    for at in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return code[start:at]
    return code[start:]


def ignores_state(closure):
    """Whether the last parameter, which is the state, is not used. An empty closure only ends a change."""
    named = PARAMETERS.match(closure)
    if not named:
        # The closure names no parameter, so it must use `$0` to compile.
        return False
    rest = closure[named.end():]
    names = re.findall(r"\w+", named[1])
    return bool(names and rest.strip()) and not re.search(r"\b" + names[-1] + r"\b", rest if names[-1] != "_" else "")
