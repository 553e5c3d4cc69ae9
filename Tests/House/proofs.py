"""What the compiler does not check is counted, and each place must say why it is safe."""
import re
from collections import Counter
from typing import NamedTuple

from finding import Finding

# The comment is at most so many lines above, or below.
ABOVE, BELOW = 3, 2
# The words, and what a proof of each must mention. A comment about something else is not a proof.
WORDS = {
    "@unchecked": (r"@unchecked\b", r"@unchecked|lock|mutex|guard|under|alone|only|once|thread|shar|chang|condition"),
    "Unmanaged": (r"\bUnmanaged\b", r"unmanaged|retain|releas|reference|own|alive|lives?\b|outlive|keep|kept|hold|held"),
    "nonisolated(unsafe)": (r"\bnonisolated\s*\(\s*unsafe\s*\)", r"nonisolated|lock|mutex|once|thread|chang|written|set"),
}
STATIC, C_STATIC, ABOUT_STATIC = "static var", "variables in C", r"\block|mutex|\bonce\b|thread|race|handler"
# At the outermost level of a C file: neither constant, nor atomic, nor one for each thread.
C_VARIABLE = re.compile(r"^(?!extern|typedef|#)(?!.*\b(?:const|_Atomic|_Thread_local)\b)[A-Za-z_][\w *]*?(\w+)(?:\[\w*\])?(?: =[^;]*)?;",
                        re.MULTILINE)


class Use(NamedTuple):
    word: str
    path: str
    line: int
    has_proof: bool


def uses(files):
    for path, file in files.items():
        for word, (pattern, about) in WORDS.items():
            lines = {file.source.line(found.start()) for found in re.finditer(pattern, file.source.code)}
            yield from (Use(word, path, line, is_proved(file.source, line, about)) for line in sorted(lines))
        for variable in file.variables:
            if variable.is_static:
                yield Use(STATIC, path, variable.line, is_proved(file.source, variable.line, ABOUT_STATIC))


def c_uses(sources):
    for path, source in sources.items():
        if not path.startswith("Sources/"):
            continue
        for found in C_VARIABLE.finditer(outermost(source.code)):
            line = source.line(found.start())
            yield Use(C_STATIC, path, line, is_proved(source, line, ABOUT_STATIC))


def outermost(code):
    """The text with blanks for what is in braces."""
    depth, kept = 0, []
    for letter in code:
        depth -= letter == "}"
        kept.append(letter if depth == 0 or letter == "\n" else " ")
        depth += letter == "{"
    return "".join(kept)


def is_proved(source, line, about):
    """Whether a comment near the line mentions what must hold."""
    near = {line + distance for distance in range(-ABOVE, BELOW + 1)}
    return any(re.search(about, comment.text, re.IGNORECASE) for comment in source.comments if comment.line in near)


def all_uses(tree):
    yield from uses(tree.swift)
    yield from c_uses(tree.c)


def find(tree):
    for use in all_uses(tree):
        if not use.has_proof:
            yield Finding("proofs", use.word, f"{use.path}:{use.line}", f"{use.word} without a comment that proves it safe")


def counts(tree):
    """word -> (in Sources, in Tests)."""
    found = Counter((use.word, use.path.split("/")[0]) for use in all_uses(tree))
    return {word: (found[word, "Sources"], found[word, "Tests"]) for word in [*WORDS, STATIC, C_STATIC]}
