"""Swift and C source text without its strings and comments.

`Source.code` has the length and the lines of the text, with spaces for comments and the insides of strings. A match in it is
therefore code. Comments and strings are kept separately, each with its line.
"""
import bisect
import re
from typing import NamedTuple


class Comment(NamedTuple):
    line: int  # from 1
    text: str  # of this line only: a block comment gives one comment a line


class String(NamedTuple):
    line: int  # from 1
    start: int  # the offset of its quotes
    text: str  # as it is written, with what is interpolated


class Unreadable(Exception):
    """The text ends inside a string or a comment, so that any count would be wrong."""


# The beginning of a comment, a string, an extended regular expression or a C character.
BEGINNING = re.compile(r"""//|/\*|(#*)(\"{3}|")|(#+)/|'(?:\\.|[^'\\\n])'""")


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.comments = []
        self.strings = []
        self._starts = [0] + [at.end() for at in re.finditer("\n", text)]
        self._parts, self._done = [], 0
        self._read()
        self.code = "".join(self._parts)

    def line(self, offset):
        return bisect.bisect_right(self._starts, offset)

    def _read(self):
        at = 0
        while found := BEGINNING.search(self.text, at):
            self._keep(found.start())
            at = self._skip(found)
            self._blank(at)
        self._keep(len(self.text))

    def _skip(self, found):
        """Returns the end of the element that begins at `found`."""
        if found[0] == "//":
            return self._line_comment(found.start())
        if found[0] == "/*":
            return self._block_comment(found.start())
        if found[3]:
            return self._find("/" + found[3], found.end()) + len(found[3]) + 1
        if found[2]:
            end = self._string(found.end(), found[1], found[2])
            text = self.text[found.end():end - len(found[1]) - len(found[2])]
            self.strings.append(String(self.line(found.start()), found.start(), text))
            return end
        return found.end()

    def _line_comment(self, start):
        end = self.text.find("\n", start)
        end = len(self.text) if end < 0 else end
        self.comments.append(Comment(self.line(start), self.text[start:end].lstrip("/").strip()))
        return end

    def _block_comment(self, start):
        """Skips a block comment. Block comments nest."""
        depth, at = 0, start
        while True:
            found = re.compile(r"/\*|\*/").search(self.text, at)
            if not found:
                raise Unreadable(f"{self.path}:{self.line(start)}: a comment that does not end")
            depth += 1 if found[0] == "/*" else -1
            at = found.end()
            if depth == 0:
                break
        for number, line in enumerate(self.text[start:at].split("\n")):
            self.comments.append(Comment(self.line(start) + number, line.strip("/* \t")))
        return at

    def _string(self, at, hashes, quote):
        """Skips a string, starting after its opening quote. Interpolations may contain strings of their own."""
        start = at
        step = re.compile(rf'\\{hashes}\(|\\{hashes}.|{quote}{hashes}', re.DOTALL)
        while found := step.search(self.text, at):
            at = found.end()
            if found[0] == quote + hashes:
                return at
            if found[0].endswith("("):
                at = self._interpolation(at)
        raise Unreadable(f"{self.path}:{self.line(start)}: a string that does not end")

    def _interpolation(self, at):
        start, depth = at, 1
        step = re.compile(r'[()]|/\*|(#*)("""|")')
        while found := step.search(self.text, at):
            at = found.end()
            if found[0] == "/*":
                at = self._block_comment(found.start())
            elif found[2]:
                at = self._string(at, found[1], found[2])
            else:
                depth += 1 if found[0] == "(" else -1
            if depth == 0:
                return at
        raise Unreadable(f"{self.path}:{self.line(start)}: an interpolation that does not end")

    def _find(self, what, at):
        end = self.text.find(what, at)
        if end < 0:
            raise Unreadable(f"{self.path}:{self.line(at)}: no {what} ends what begins here")
        return end

    def _keep(self, end):
        self._parts.append(self.text[self._done:end])
        self._done = end

    def _blank(self, end):
        """Replaces a string or comment with spaces. The quotes stay, so that `= "..."` still looks like a value."""
        text = self.text[self._done:end]
        blank = re.sub(r"[^\n]", " ", text)
        if len(text) >= 2 and text[0] in '#"':
            blank = '"' + blank[1:-1] + '"'
        self._parts.append(blank)
        self._done = end
