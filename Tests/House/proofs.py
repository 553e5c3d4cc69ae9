"""Code that the compiler cannot check is counted, and each place must say why it is safe."""
import re
from collections import Counter
from typing import NamedTuple

from finding import Finding

# The counted words, each with its pattern and the beginning of its proof.
WORDS = {word: (pattern, re.compile(re.escape(word) + r": (?:\S+\s+){2,}\S")) for word, pattern in {
    "@unchecked": r"@unchecked\b",
    "Unmanaged": r"\bUnmanaged\b",
    "nonisolated(unsafe)": r"\bnonisolated\s*\(\s*unsafe\s*\)",
}.items()}
STATIC, C_STATIC = "static var", "variables in C"
ABOUT_STATIC = re.compile(r"\block|mutex|\bonce\b|thread|race|handler", re.IGNORECASE)
OPENINGS = ("{", "(", ",", "=")
TYPE_HEAD = re.compile(r"\b(?:class|struct|enum|actor|extension)\b.*\{\s*$")
# Variables at the outermost level of a C file that are neither constant, atomic nor thread-local.
C_VARIABLE = re.compile(r"^(?!extern|typedef|#)(?!.*\b(?:const|_Atomic|_Thread_local)\b)[A-Za-z_][\w *]*?(\w+)(?:\[\w*\])?(?: =[^;]*)?;",
                        re.MULTILINE)


class Use(NamedTuple):
    word: str
    path: str
    line: int
    has_proof: bool


def uses(files):
    for path, file in files.items():
        for word, (pattern, proof) in WORDS.items():
            lines = {file.source.line(found.start()) for found in re.finditer(pattern, file.source.code)}
            yield from (Use(word, path, line, is_proved(file.source, line, proof, pattern))
                        for line in sorted(lines))
        for variable in file.variables:
            if variable.is_static:
                yield Use(STATIC, path, variable.line, is_proved(file.source, variable.line, ABOUT_STATIC))


def c_uses(sources):
    for path, source in sources.items():
        if not path.startswith("Sources/"):
            continue
        for found in C_VARIABLE.finditer(outermost(source.code)):
            line = source.line(found.start())
            yield Use(C_STATIC, path, line, is_proved(source, line, ABOUT_STATIC, C_VARIABLE))


def outermost(code):
    """Returns the text with spaces inside all braces."""
    depth, kept = 0, []
    for letter in code:
        depth -= letter == "}"
        kept.append(letter if depth == 0 or letter == "\n" else " ")
        depth += letter == "{"
    return "".join(kept)


def is_proved(source, line, proof, kin=None):
    """Returns whether a comment at the line, right above it, or at the beginning of a type right below it is a proof.

    Adjacent lines share a proof: lines that match `kin`, and the head of a function or of a statement.
    """
    comments = {}
    for comment in source.comments:
        comments[comment.line] = " ".join(filter(None, [comments.get(comment.line), comment.text]))
    code = [""] + source.code.split("\n")
    above = line - 1
    while above not in comments and (code[above].rstrip().endswith(OPENINGS) or kin and re.search(kin, code[above])):
        above -= 1
    block = ""
    while above in comments and not code[above].strip():
        block = comments[above] + " " + block
        above -= 1
    below = comments.get(line + 1, "") if TYPE_HEAD.search(code[line]) else ""
    return any(proof.search(text) for text in (comments.get(line, ""), block, below))


def all_uses(tree):
    yield from uses(tree.swift)
    yield from c_uses(tree.c)


def find(tree):
    for use in all_uses(tree):
        if not use.has_proof:
            yield Finding("proofs", use.word, f"{use.path}:{use.line}", f"{use.word} without a comment that proves it safe")


def counts(tree):
    """Returns word -> (count in Sources, count in Tests)."""
    found = Counter((use.word, use.path.split("/")[0]) for use in all_uses(tree))
    return {word: (found[word, "Sources"], found[word, "Tests"]) for word in [*WORDS, STATIC, C_STATIC]}
