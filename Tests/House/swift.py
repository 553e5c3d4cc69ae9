"""Declarations of a Swift file: imports, types, extensions, functions, stored variables.

This is not a compiler. It follows braces and keywords in text without strings and comments (lexer.py). A function is anything
with a body of statements: `func`, `init`, `deinit`, `subscript`, the accessors of a variable, and a closure in a declaration.
"""
import re
from dataclasses import dataclass, field

from lexer import Source

TYPES = {"class", "struct", "enum", "actor", "protocol", "extension"}
METHODS = {"func", "init", "deinit", "subscript"}
MODIFIERS = {
    "public", "package", "internal", "fileprivate", "private", "open", "static", "class", "final", "lazy", "weak",
    "unowned", "override", "mutating", "nonmutating", "nonisolated", "consuming", "borrowing", "indirect", "required",
    "convenience", "dynamic", "optional", "prefix", "postfix", "infix", "distributed", "isolated"}
# Words that can begin a declaration, and so end an earlier one that has no body.
BEGINS = TYPES | METHODS | MODIFIERS | {"var", "let", "case", "typealias", "associatedtype", "import", "operator"}
TOKEN = re.compile(r'`?[A-Za-z_]\w*`?|\d\w*|->|[-+*/%|^~{}()\[\].,:=@#<>?!&;\n"]')
IMPORT = re.compile(
    r"^[ \t]*((?:@\w+(?:\([^()]*\))?\s+)*)(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:class|struct|enum|protocol|typealias|func|let|var)\s+)?(\w+)", re.MULTILINE)


@dataclass
class Import:
    module: str
    line: int
    is_testable: bool


@dataclass
class Function:
    name: str  # with its enclosing types: `Volume.write`
    first: int  # the line of `func`, not of an attribute above it
    opens: int  # the line of its brace
    last: int

    @property
    def lines(self):
        return self.last - self.first + 1

    @property
    def body_lines(self):
        return max(1, self.last - self.opens - 1)


@dataclass
class Variable:
    """A stored `var`."""
    name: str
    line: int
    is_static: bool  # or global


@dataclass
class TypeBody:
    """A declaration of a type, or an extension of one."""
    kind: str
    name: str  # as it is written, with its enclosing types
    first: int
    is_private: bool
    last: int = 0
    methods: int = 0
    nested: int = 0  # lines of nested types, which are measured on their own

    @property
    def lines(self):
        return self.last - self.first + 1 - self.nested


@dataclass
class File:
    source: Source
    imports: list = field(default_factory=list)
    types: list = field(default_factory=list)
    functions: list = field(default_factory=list)
    variables: list = field(default_factory=list)


def parse(path, text):
    source = Source(path, text)
    file = File(source)
    for found in IMPORT.finditer(source.code):
        file.imports.append(Import(found[2], source.line(found.start(2)), "@testable" in found[1]))
    Parser(file).declarations(None)
    return file


class Unbalanced(Exception):
    """Brackets do not match, so that measurements of this file would be wrong."""


class Parser:
    def __init__(self, file):
        self.file, self.source = file, file.source
        self.tokens = [(found[0], found.start()) for found in TOKEN.finditer(self.source.code)]
        self.at = 0

    def word(self, ahead=0):
        index = self.at + ahead
        return self.tokens[index][0] if index < len(self.tokens) else ""

    def word_below(self, ahead=0):
        """Returns the next word after any line ends."""
        while self.word(ahead) == "\n":
            ahead += 1
        return self.word(ahead)

    def line(self, at=None):
        at = self.at if at is None else at
        return self.source.line(self.tokens[min(at, len(self.tokens) - 1)][1])

    def step(self):
        """Skips one token, or a whole (...) or [...], which declares nothing."""
        if self.word() not in ("(", "["):
            self.at += 1
        else:
            self.past_group()

    def past_group(self):
        depth = 0
        while self.at < len(self.tokens):
            word = self.word()
            depth += (word in tuple("([{")) - (word in tuple(")]}"))
            self.at += 1
            if depth == 0:
                return
        raise Unbalanced(f"{self.source.path}: a bracket that is not closed")

    def declarations(self, owner):
        """Reads up to the brace that ends `owner`, or to the end of the file."""
        modifiers = set()
        while self.at < len(self.tokens):
            word = self.word()
            if word == "}" and owner:
                return
            if word == "}":
                raise Unbalanced(f"{self.source.path}:{self.line()}: a brace that nothing opens")
            if self.declaration(word, owner, modifiers):
                modifiers = set()
                continue
            modifiers.add(word)
            if word == "@":
                self.at += 1  # so that the attribute's name is not taken for a keyword
            self.past_group() if word == "{" else self.step()
        if owner:
            raise Unbalanced(f"{self.source.path}: {owner.name} is not closed")

    def declaration(self, word, owner, modifiers):
        """Reads one declaration, if `word` begins one. Returns whether it did."""
        if word in TYPES and self.word(1) not in BEGINS:
            self.type(owner, bool(modifiers & {"private", "fileprivate"}))
        elif word in METHODS:
            self.method(owner)
        elif word in ("var", "let"):
            self.variable(owner, bool(modifiers & {"static", "class"}))
        elif word in ("case", "typealias", "associatedtype", "import"):
            self.rest_of_line()
        else:
            return False
        return True

    def rest_of_line(self):
        while self.word() not in ("}", ";", "") and not (self.word() == "\n" and self.ends_here()):
            self.step()

    def ends_here(self):
        """Returns whether the declaration ends at this line end instead of continuing on the next line."""
        return self.word(-1) not in (",", "=") and self.word_below() in BEGINS | {"}", "@", "#", ""}

    def type(self, owner, is_private):
        kind, first = self.word(), self.line()
        name = self.word(1).strip("`")
        self.at += 2
        while self.word() == ".":
            name += "." + self.word(1).strip("`")
            self.at += 2
        while self.word() not in ("{", ""):
            self.step()
        body = TypeBody(kind, self.named(owner, name), first, is_private)
        self.at += 1
        self.file.types.append(body)
        self.declarations(body)
        body.last = self.line()
        self.at += 1
        if owner:
            owner.nested += body.lines + body.nested

    @staticmethod
    def named(owner, name):
        return f"{owner.name}.{name}" if owner else name

    def method(self, owner):
        name, first = self.word(), self.line()
        self.at += 1
        if name == "func":
            start = self.at
            self.at += 1
            while self.word() not in ("(", "<", ""):
                self.at += 1
            name = self.source.code[self.tokens[start][1]:self.tokens[self.at][1]].strip("` ")
        if owner:
            owner.methods += 1
        while self.word() not in ("{", "}", ";", "") and not (self.word() == "\n" and self.ends_here()):
            self.step()
        if self.word() == "{":
            self.body(self.named(owner, name), first, owner)

    def variable(self, owner, is_static):
        is_var, first, name = self.word() == "var", self.line(), self.named(owner, self.word(1).strip("`"))
        self.at += 1
        has_value = False
        while self.word() not in ("}", ";", "") and not (self.word() == "\n" and self.ends_here()):
            has_value = has_value or self.word() == "="
            if self.word() == "{":
                observed = self.word_below(1) in ("willSet", "didSet")
                is_closure = has_value and not observed
                self.body(name, self.line() if is_closure else first, owner)
                if observed:
                    break
                if not has_value:
                    return  # it is computed
            elif self.word() in ("(", "["):
                self.closures_in_group(name, owner)
            else:
                self.at += 1
        if is_var:
            self.file.variables.append(Variable(name, first, is_static or owner is None))

    def closures_in_group(self, name, owner):
        """Reads the arguments or elements of a value. Closures among them are functions."""
        depth = 0
        while self.at < len(self.tokens):
            word = self.word()
            if word == "{":
                self.body(name, self.line(), owner)
                continue
            depth += (word in ("(", "[")) - (word in (")", "]"))
            self.at += 1
            if depth == 0:
                return

    def body(self, name, first, owner):
        """Reads statements in braces. Local types are measured like all others."""
        depth, opens = 0, self.line()
        while self.at < len(self.tokens):
            word = self.word()
            if self.is_local_type():
                self.type(owner, True)
                continue
            depth += (word == "{") - (word == "}")
            self.at += 1
            if depth == 0:
                if not owner or owner.kind != "protocol":
                    self.file.functions.append(Function(name, first, opens, self.line(self.at - 1)))
                return
        raise Unbalanced(f"{self.source.path}: {name} is not closed")

    def is_local_type(self):
        return (self.word() in TYPES - {"extension"} and self.word(-1) != "."
                and re.fullmatch(r"[A-Z]\w*", self.word(1)) is not None and self.word(2) in ("{", ":", "<"))
