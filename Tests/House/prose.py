"""Text reads at one pass: docs/CONTRIBUTING.md, "Text", names the turns of phrase that are counted here.

Four turns make a reader parse a sentence twice: a free relative as subject or object ("what is open is skipped", "who has"),
"that of" and "those of" in place of a noun, and a sentence that begins with its qualification. A few are good English, so
the rule bounds how many there are; `python3 Tests/House --prose` lists each.
"""
import re
from typing import NamedTuple

import references
from finding import Finding

FREE = re.compile(
    r"(?<![\w'])(?:[Ww]ho|[Ww]hat)(?:(?:so)?ever)?\s+"
    r"(?:is|are|was|were|has|have|had|can|may|must|do|does|did|goes|comes|stays|needs|it|they|belongs|\w+s)\b")
THAT = re.compile(r"(?<![\w'])(?:[Tt]hat|[Tt]hose)\s+(?:of|in|on|that|which|from|with|whose)\b")
BEGINS = re.compile(r"(?:Of|Those|That of|What|Whatever|Who|Whoever|Whose|The same|As many|As much|So many|In place of)\b")
CODE = re.compile(r"`[^`]*`")
DISPLAY_TEXT = re.compile(r"@(?:Test|Suite)\(\s*$")
# Per 1,000 words, per 1,000 words, and per 100 sentences.
COMMENTS, PAGES = (0.8, 0.3, 0.5), (1.0, 0.5, 1.0)
TURNS = ("free relatives", "that of, those of", "sentences that begin with a qualification")
SELF = "Tests/House/"  # names the turns


class Sentence(NamedTuple):
    place: str
    text: str
    turns: tuple  # how often each of TURNS is in it


def find(tree):
    for name, (limits, sentences) in bodies(tree).items():
        words = max(1, sum(len(each.text.split()) for each in sentences))
        bases = (1000 / words, 1000 / words, 100 / max(1, len(sentences)))
        for index, (turn, limit, base) in enumerate(zip(TURNS, limits, bases)):
            count = sum(each.turns[index] for each in sentences)
            # One alone is no habit, in however short a text.
            if count > 1 and count * base > limit:
                yield Finding("prose", name, name, f"{count} {turn}, {count * base:.1f} where {limit} are allowed; "
                                                   f"python3 Tests/House --prose lists them")


def bodies(tree):
    """Name -> (limits, sentences) of all text of one kind."""
    found = {"comments of Sources": (COMMENTS, []), "comments of Tests": (COMMENTS, []), "pages": (PAGES, []),
             "texts of the program": (COMMENTS, []), "names of tests": (COMMENTS, [])}
    for path, text in tree.texts.items():
        if path.startswith(SELF) or path == "LICENSE":
            continue
        if path.endswith(".md"):
            name, blocks = "pages", paragraphs(text)
        else:
            name, blocks = "comments of " + ("Tests" if path.startswith("Tests/") else "Sources"), comments(tree, path, text)
        found[name][1].extend(each for line, block in blocks for each in sentences(path, line, block))
        if path in tree.swift:
            name = "names of tests" if path.startswith("Tests/") else "texts of the program"
            found[name][1].extend(each for line, block in strings(tree.swift[path].source, path.startswith("Tests/"))
                                  for each in sentences(path, line, block))
    return found


def comments(tree, path, text):
    """Adjacent lines of comment are one block."""
    prose = references.prose_of(tree, path, text).split("\n")
    first, lines = 1, []
    for number, line in enumerate(prose + [""], 1):
        if line.strip():
            first = first if lines else number
            lines.append(line.strip())
        elif lines:
            yield first, " ".join(lines)
            lines = []


def paragraphs(text):
    text = re.sub(r"^```.*?^```$|<!--.*?-->", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    line = 1
    for block in re.split(r"(\n\s*\n)", text):
        if block.strip() and not block.lstrip().startswith(("|", "#")):
            yield line, " ".join(block.split())
        line += block.count("\n")


def strings(source, is_test):
    """Yields strings of at least three words; in tests, only display texts."""
    for line, start, text in source.strings:
        if len(text.split()) > 2 and (not is_test or DISPLAY_TEXT.search(source.text[:start])):
            yield line, " ".join(text.split())


def sentences(path, line, block):
    for sentence in re.split(r"(?<=[.!?:])\s+", CODE.sub("X", block)):
        if sentence.strip() and not sentence.endswith("?"):
            turns = (len(FREE.findall(sentence)), len(THAT.findall(sentence)), int(bool(BEGINS.match(sentence))))
            yield Sentence(f"{path}:{line}", sentence, turns)


def listed(tree):
    """Yields a line for each sentence with one of the counted phrases."""
    for _, found in bodies(tree).values():
        yield from (f"{each.place}: {each.text}" for each in found if any(each.turns))
