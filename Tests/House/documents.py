"""Types, members and test targets that the pages name exist. Code in pages is in fenced blocks."""
import re

from finding import Finding
from references import prose_of

# Pages in which names in backticks are names of our code.
PAGES = ("docs/ARCHITECTURE.md", "docs/FIDELITY.md", "docs/INTERNALS.md", "docs/TESTING.md")
TESTS_PAGE = "docs/TESTING.md"
# `Type` and `Type.member` (but `File.swift` is a reference), and `name` in Target for anything that is not a member.
TYPE = re.compile(r"`([A-Z]\w*[a-z]\w*)(?:\.(?!(?:swift|c|py|md)`)(\w+))?`")
IN_TARGET = re.compile(r"`(\w+)` in ((?:Purge|C)[A-Z]\w*)\b")
EXTENSION = re.compile(r"`([A-Z]\w*\+\w+)`")
TEST_TARGET = re.compile(r'\.testTarget\(\s*name: "(\w+)"')
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"^( *(?:[-*+]|\d+[.)]) +)")


def find(tree):
    names = Names(tree)
    for path in PAGES:
        if path in tree.texts:
            yield from unknown(names, path, prose_of(tree, path, tree.texts[path]))
    yield from test_targets(tree)
    for path, text in tree.texts.items():
        if path.endswith(".md"):
            yield from unfenced(path, text)


class Names:
    """Declarations of the Swift files."""

    def __init__(self, tree):
        self.tree = tree
        self.bodies = {}  # the last part of a type's name -> the texts of its declaration and its extensions
        for file in tree.swift.values():
            lines = file.source.code.split("\n")
            for body in file.types:
                self.bodies.setdefault(body.name.split(".")[-1], []).append("\n".join(lines[body.first - 1:body.last]))
            for alias in re.finditer(r"\btypealias (\w+)", file.source.code):
                self.bodies.setdefault(alias[1], [])

    def has_member(self, type, member):
        declared = re.compile(rf"\b(?:func|var|let|case|class|struct|enum|typealias)\b[^\n{{=:(]*\b{member}\b")
        return any(declared.search(body) for body in self.bodies[type])

    def is_in(self, target, name):
        codes = {**{path: file.source.code for path, file in self.tree.swift.items()},
                 **{path: source.code for path, source in self.tree.c.items()}}
        return any(re.search(rf"\b{name}\b", code) for path, code in codes.items() if f"/{target}/" in path)


def unknown(names, path, prose):
    place = lambda found: f"{path}:{prose.count(chr(10), 0, found.start()) + 1}"
    for found in TYPE.finditer(prose):
        type, member = found.groups()
        if type not in names.bodies:
            yield Finding("documents", type, place(found), f"there is no type {type}")
        elif member and not names.has_member(type, member):
            yield Finding("documents", f"{type}.{member}", place(found), f"{type} has no {member}")
    for found in IN_TARGET.finditer(prose):
        if not names.is_in(found[2], found[1]):
            yield Finding("documents", found[1], place(found), f"there is no {found[1]} in {found[2]}")
    for found in EXTENSION.finditer(prose):
        if not any(known.endswith(f"/{found[1]}.swift") for known in names.tree.paths):
            yield Finding("documents", found[1], place(found), f"there is no file {found[1]}.swift")


def test_targets(tree):
    """The table of TESTING has a row for each test target, and no other row for Swift tests."""
    if TESTS_PAGE not in tree.texts:
        return
    rows = set(re.findall(r"^\| (\w+) \|", tree.texts[TESTS_PAGE], re.MULTILINE))
    targets = set(TEST_TARGET.findall(tree.texts.get("Package.swift", "")))
    for target in sorted(targets - rows):
        yield Finding("documents", target, TESTS_PAGE, f"the table has no row for {target}")
    for row in sorted(row for row in rows - targets if row.endswith("Tests")):
        yield Finding("documents", row, TESTS_PAGE, f"Package.swift has no {row}")


def unfenced(path, text):
    """Finds code that is only indented, because the tests of examples do not see it."""
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    # After an empty line, this much indentation makes code. In a list item, it counts from the start of the item's
    # text.
    needed, is_after_empty = 4, True
    for number, line in enumerate(text.split("\n"), 1):
        indentation = len(line) - len(line.lstrip(" "))
        if not line.strip():
            is_after_empty = True
            continue
        if line.startswith("\t") or is_after_empty and indentation >= needed:
            yield Finding("documents", path, f"{path}:{number}", "the code is not in a fenced block")
        elif item := ITEM.match(line):
            needed = len(item[1]) + 4
        elif is_after_empty and indentation == 0:
            needed = 4
        is_after_empty = False
