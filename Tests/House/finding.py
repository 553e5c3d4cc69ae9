"""Findings of the rules, and the exceptions to them."""
from typing import NamedTuple


class Finding(NamedTuple):
    rule: str
    name: str  # the name that an exception uses: a type, a function, a file
    place: str  # path, or path:line
    what: str

    def __str__(self):
        return f"{self.place}: {self.what}"


def sift(findings, exceptions):
    """Returns the findings that no exception covers, and the unused exceptions.

    For each rule, `exceptions` maps names to reasons.
    """
    used, left = set(), []
    for finding in findings:
        if finding.name in exceptions.get(finding.rule, {}):
            used.add((finding.rule, finding.name))
        else:
            left.append(finding)
    unused = [(rule, name) for rule, names in exceptions.items() for name in names if (rule, name) not in used]
    return left, unused
