"""Files and headings that comments and pages name are in the repository."""
import fnmatch
import functools
import io
import os
import re
import tokenize

from finding import Finding

# Documents that are not in a clone. Facts from them belong in docs/.
CITATIONS = re.compile(r"\bSPEC\b|\bFACTS\b|\b(?:FUSE|STYLE|ATTACK|RING)\.md\b")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([\w-]+))?\)")
PAGE = re.compile(r"\b(?:docs/)?([A-Z]{3,}\.md)\b(?:\]\([^)]*\)\))?(?:, ([A-Z`][^.;:)\n]*))?")
BELOW = re.compile(r"\((?:below|above), ([A-Z][^.;:)\n]*)\)")
NAMED = re.compile(r"(?<![\w/.*<-])(?!linux/|sys/)((?:[\w.+-]+/)*[A-Za-z][\w+-]*\.(?:swift|c|h|py))\b")
OURS = re.compile(r"(?<![\w/.-])(?:\./)?((?:Sources|Tests|docs|mount-scripts)/[\w./+@*-]*[\w*])")
# This folder contains the forbidden names.
SELF = "Tests/House/"


def find(tree):
    for path, text in tree.texts.items():
        if path.startswith(SELF):
            continue
        yield from citations(path, text)
        yield from paths(tree, path, text)
        prose = prose_of(tree, path, text)
        yield from pointers(tree, path, prose)
        if path.endswith(".md"):
            yield from links(tree, path, prose)


def citations(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        for found in CITATIONS.finditer(line):
            yield Finding("citations", found[0], f"{path}:{number}", f"{found[0]} is not in the repository")


def prose_of(tree, path, text):
    """Returns the text for readers, with the same lines: comments, or a page without its examples."""
    source = tree.swift[path].source if path in tree.swift else tree.c.get(path)
    if source:
        lines = [""] * (text.count("\n") + 1)
        for comment in source.comments:
            lines[comment.line - 1] += comment.text
        return "\n".join(lines)
    if path.endswith(".md"):
        return re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    if path in tree.python():
        return prose_of_python(text)
    return re.sub(r"^(?:[ \t]*# ?|[^#\n]*$)", "", text, flags=re.MULTILINE)


@functools.cache
def prose_of_python(text):
    """Returns comments and strings of several lines."""
    lines = [""] * (text.count("\n") + 1)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or token.type == tokenize.STRING and token.string.endswith('"' * 3):
            for number, line in enumerate(token.string.split("\n"), token.start[0] - 1):
                lines[number] += line.strip("# ")
    return "\n".join(lines)


def paths(tree, path, text):
    """Every path into one of our folders exists."""
    for found in OURS.finditer(text):
        name = found[1]
        if name not in tree.paths and not any(fnmatch.fnmatch(known, name) or known.startswith(name + "/") for known in tree.paths):
            line = text.count("\n", 0, found.start()) + 1
            yield Finding("references", name, f"{path}:{line}", f"there is no {name}")


def pointers(tree, path, prose):
    """Checks `docs/X.md, Heading` and `docs/X.md`, `(below, Heading)` in a page, and names of source files."""
    joined = prose.replace("\n", " ")  # same length, because a pointer may continue on the next line
    place = lambda at: f"{path}:{prose.count(chr(10), 0, at) + 1}"
    for found in PAGE.finditer(joined):
        if CITATIONS.match(found[1]):
            continue  # `citations` reports it
        page = page_of(tree, found[1])
        if page is None:
            yield Finding("references", found[1], place(found.start()), f"there is no {found[1]}")
        elif found[2] and not begins_with_heading(tree.texts[page], found[2]):
            yield Finding("references", found[1], place(found.start()), f"{found[1]} has no heading '{found[2]}'")
    if path.endswith(".md"):
        for found in BELOW.finditer(joined):
            if not begins_with_heading(tree.texts[path], found[1]):
                yield Finding("references", path, place(found.start()), f"there is no heading '{found[1]}'")
    for found in NAMED.finditer(joined):
        if not any(known == found[1] or known.endswith("/" + found[1]) for known in tree.paths):
            yield Finding("references", found[1], place(found.start()), f"there is no file {found[1]}")


def page_of(tree, name):
    return next((path for path in (f"docs/{name}", name) if path in tree.texts), None)


def headings(text):
    return re.findall(r"^#+ (.+?)\s*$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)


def begins_with_heading(text, words):
    return any(words.lower().startswith(heading.lower()) for heading in headings(text))


def links(tree, path, prose):
    for found in LINK.finditer(prose):
        target, anchor = found[1], found[2]
        if ":" in target:
            continue
        file = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        place = f"{path}:{prose.count(chr(10), 0, found.start()) + 1}"
        if file not in tree.texts:
            yield Finding("references", target, place, f"there is no {file}")
        elif anchor and anchor not in map(anchor_of, headings(tree.texts[file])):
            yield Finding("references", target, place, f"{file} has no heading '#{anchor}'")


def anchor_of(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
