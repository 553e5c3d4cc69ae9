"""Limits on the sizes of types, functions and callbacks."""
import ast
import functools
import re
from collections import defaultdict

from finding import Finding
from tree import target_of

TYPE_LINES, TYPE_METHODS, FUNCTION_LINES, CALLBACK_LINES = 400, 40, 40, 8
CALLBACKS = "Sources/PurgeFUSE/Callbacks/"


class Type:
    """A type with all its extensions, or all extensions of a foreign type."""

    def __init__(self, name):
        self.name, self.lines, self.methods, self.places = name, 0, 0, []

    def add(self, path, body):
        self.lines += body.lines
        self.methods += body.methods
        self.places.append(f"{path}:{body.first}")


def types(files):
    """Returns all types. A type's lines reach from its keyword to its brace, in all its extensions, without nested types, which
    are measured on their own. Its methods are func, init, deinit and subscript."""
    declared, found = declarations(files), {}
    for path, file in files.items():
        for body in file.types:
            key = owner(declared, path, body)
            found.setdefault(key, Type(body.name)).add(path, body)
    return found


def declarations(files):
    """Returns name -> the places of its declarations: (path, target, whether it is private there)."""
    declared = defaultdict(list)
    for path, file in files.items():
        for body in file.types:
            if body.kind != "extension":
                declared[body.name].append((path, target_of(path), body.is_private))
    return declared


def owner(declared, path, body):
    """Returns a key for the type of `body`, to tell it from others of the same name."""
    target, places = target_of(path), declared.get(body.name, [])
    if body.kind != "extension":
        return (path if body.is_private else target, body.name)
    if any(is_private and where == path for where, _, is_private in places):
        return (path, body.name)
    homes = [home for _, home, is_private in places if not is_private]
    return (target if target in homes or not homes else homes[0], body.name)


def find_types(tree):
    for measured in types(tree.swift).values():
        if measured.lines > TYPE_LINES or measured.methods > TYPE_METHODS:
            yield Finding("types", measured.name, measured.places[0],
                          f"{measured.name} has {measured.lines} lines and {measured.methods} methods in "
                          f"{len(measured.places)} places; {TYPE_LINES} and {TYPE_METHODS} are allowed")


def functions(tree):
    """Yields (path, name, first line, lines) for each function in Swift, C and Python."""
    for path, file in tree.swift.items():
        for each in file.functions:
            yield path, each.name, each.first, each.lines
    for path, source in tree.c.items():
        for name, first, last in c_functions(source):
            yield path, name, first, last - first + 1
    for path, text in tree.python().items():
        for name, first, lines in python_functions(text):
            yield path, name, first, lines


@functools.cache
def python_functions(text):
    return [(node.name, node.lineno, node.end_lineno - node.lineno + 1) for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def c_functions(source):
    """Yields (name, first line, last line). A function begins at a line of the outermost level with `name(...) {`."""
    for found in re.finditer(r"^[A-Za-z_][^;{}#=]*?\b(\w+)\([^;{}]*\)\s*\{", source.code, re.MULTILINE):
        depth, at = 1, found.end()
        while depth and at < len(source.code):
            depth += (source.code[at] == "{") - (source.code[at] == "}")
            at += 1
        yield found[1], source.line(found.start()), source.line(at - 1)


def find_functions(tree):
    for path, name, first, lines in functions(tree):
        if lines > FUNCTION_LINES:
            yield Finding("functions", name, f"{path}:{first}",
                          f"{name} has {lines} lines; {FUNCTION_LINES} are allowed")


def callbacks(tree):
    """Yields (path, name, line, lines in its braces) for each entry of libfuse's table. A callback that only passes its
    arguments to a function of this folder is measured with that function."""
    files = {path: file for path, file in tree.swift.items() if path.startswith(CALLBACKS)}
    methods = {}
    for path, file in files.items():
        for each in file.functions:
            methods.setdefault(each.name.split(".")[-1], []).append((path, each.first, each.body_lines))
    for path, file in files.items():
        code = file.source.code
        for found in re.finditer(r"\b\w+\.(`?\w+`?) = (\{)", code):
            end = closing(code, found.start(2))
            first = file.source.line(found.start())
            lines = max(1, file.source.line(end) - first - 1)
            handed = re.fullmatch(r"\{ Request\(\$0\)\?\.(\w+)\(.*\) \}", code[found.start(2):end + 1])
            place = max(methods.get(handed[1], []), key=lambda each: each[2], default=None) if handed else None
            where, line, longest = place or (path, first, lines)
            yield where, found[1].strip("`"), line, max(lines, longest)


def closing(code, at):
    depth = 0
    for index in range(at, len(code)):
        depth += (code[index] == "{") - (code[index] == "}")
        if depth == 0:
            return index
    return len(code) - 1


def find_callbacks(tree):
    for path, name, line, lines in callbacks(tree):
        if lines > CALLBACK_LINES:
            yield Finding("callbacks", name, f"{path}:{line}",
                          f"the callback {name} has {lines} lines; {CALLBACK_LINES} are allowed")
