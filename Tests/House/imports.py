"""Targets import only the modules that the table in docs/ARCHITECTURE.md allows, and that table allows tools neither the engine
nor other tools."""
import re

from finding import Finding
from tree import target_of

TABLE = "docs/ARCHITECTURE.md"
# A tool is a target that uses PurgeContainers, except for the one with all verbs.
CONTAINERS, VERBS = "PurgeContainers", "PurgeCommands"
ENGINE = {"PurgeVolume", "PurgeTree", "PurgeFUSE"}
# All tests may use these. Package.swift names the other modules for each test target.
OF_TESTS = {"Testing", "Foundation", "FoundationEssentials", "Glibc", "Synchronization"}


def find(tree):
    table = modules(tree.texts[TABLE])
    package = dependencies(tree.texts["Package.swift"])
    yield from compare(table, package)
    yield from tools(table)
    for path, file in tree.swift.items():
        target = target_of(path)
        if target is None:
            continue
        in_tests = path.startswith("Tests/")
        allowed = package.get(target, set()) | OF_TESTS if in_tests else table.get(target)
        if allowed is None:
            yield Finding("imports", target, path, f"the table in {TABLE} has no row for {target}")
            continue
        for each in file.imports:
            place = f"{path}:{each.line}"
            if each.module not in allowed:
                yield Finding("imports", target, place, f"{target} may not import {each.module}")
            if each.is_testable and not in_tests:
                yield Finding("imports", target, place, "@testable is for tests")


def compare(table, package):
    """The dependencies in Package.swift are exactly the targets that the table allows."""
    ours = set(table)
    for target in sorted(ours & set(package)):
        if table[target] & ours != package[target]:
            yield Finding("imports", target, "Package.swift", f"{target} depends on {listed(package[target])}; "
                          f"the table in {TABLE} says {listed(table[target] & ours)}")
    for target in sorted(name for name in package if not name.endswith("Tests") and name not in ours | {"Support", "ForkProbe"}):
        yield Finding("imports", target, "Package.swift", f"the table in {TABLE} has no row for {target}")


def tools(table):
    """A tool reads the journal, the control files and the model. It uses neither the engine nor another tool."""
    found = {target for target, modules in table.items() if CONTAINERS in modules} - {VERBS}
    for tool in sorted(found):
        for module in sorted(table[tool] & (ENGINE | found)):
            yield Finding("imports", tool, TABLE, f"{tool} is a tool, so it may not import {module}")


def listed(names):
    return ", ".join(sorted(names)) or "nothing"


def modules(text):
    """Returns target -> the modules it may import, from the rows `| targets | what lives there | modules |`."""
    allowed, rows = {}, section(text, "Modules").partition("\n|---")[2]
    for targets, names in re.findall(r"^\| (\w[\w, ]*) \|.*\| ([^|]*) \|$", rows, re.MULTILINE):
        for target in targets.split(", "):
            allowed[target] = set(re.findall(r"\w+", names)) - {"nothing"}
    return allowed


def section(text, heading):
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"{TABLE} has no heading {heading}")
    return found[1]


def dependencies(package):
    """Returns target -> its dependencies, from Package.swift."""
    found = {}
    for target in re.split(r"\.(?:system)?(?:executable|test)?(?:[tT]arget|Library)\(", package)[1:]:
        name = re.search(r'name: "(\w+)"', target)
        names = re.search(r"dependencies: \[([^\]]*)\]", target)
        if name:
            found[name[1]] = set(re.findall(r'"(\w+)"', names[1])) if names else set()
    return found
