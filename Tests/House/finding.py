"""What a rule finds, and the exceptions to it."""
from typing import NamedTuple


class Finding(NamedTuple):
    rule: str
    name: str  # what an exception names: a type, a function, a file
    place: str  # path, or path:line
    what: str

    def __str__(self):
        return f"{self.place}: {self.what}"


def sift(findings, exceptions):
    """(what no exception covers, the exceptions that cover nothing).

    `exceptions` has for each rule the names that are excepted, each with why.
    """
    used, left = set(), []
    for finding in findings:
        if finding.name in exceptions.get(finding.rule, {}):
            used.add((finding.rule, finding.name))
        else:
            left.append(finding)
    unused = [(rule, name) for rule, names in exceptions.items() for name in names if (rule, name) not in used]
    return left, unused
