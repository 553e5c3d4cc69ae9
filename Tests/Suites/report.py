"""Compares the results of both places."""
import collections
from dataclasses import dataclass
from typing import Union


@dataclass
class Result:
    """The outcome of a case: one line, or one line for each of many tests."""
    value: Union[str, dict]
    seconds: float = 0


def shorten(value):
    """Returns one line, with the number of tests for each outcome if there are many."""
    if isinstance(value, dict):
        kinds = collections.Counter(line.split(":")[0] for line in value.values())
        return ", ".join(f"{count} {kind}" if count > 1 or not kind.startswith("exit") else kind
                         for kind, count in sorted(kinds.items()))
    return value if len(value) <= 90 else value[:87] + "..."


def differences(plain, mounted):
    """Returns lines about the differences between two values."""
    if isinstance(plain, dict) and isinstance(mounted, dict):
        return [f"{test}: plain {plain.get(test, 'nothing')}, mount {mounted.get(test, 'nothing')}"
                for test in sorted(plain.keys() | mounted.keys()) if plain.get(test) != mounted.get(test)]
    return [] if plain == mounted else [f"plain {plain}, mount {mounted}"]


#: The case that stands for a suite that broke off.
BROKEN = "broken off"


class Table:
    """The outcome and the verdict of each case."""

    def __init__(self):
        self.rows = []
        self.details = []
        self.failed = 0

    def compare(self, suite, plain, mounted, known):
        """Compares the cases. `known` maps a case and a line of its differences to the reason of the difference."""
        for case in [*plain, *(case for case in mounted if case not in plain)]:
            a, b = plain.get(case), mounted.get(case)
            if case == BROKEN:
                found = [f"{place} {result.value}" for place, result in (("plain", a), ("mount", b)) if result]
            elif a is None:  # a check of the mount alone, which must succeed
                said = shorten(b.value)
                found = [] if said.startswith("ok") else [said]
            elif b is None and BROKEN in mounted:  # reported by that case
                found = []
            else:
                found = differences(a.value, b.value if b else "nothing")
            excused = [line for line in found if (case, line) in known]
            found = [line for line in found if line not in excused]
            self.failed += len(found)
            verdict = "DIFFERS" if found else "same" if a else "ok"
            if excused and not found:
                verdict = "known"
            if b is None and not found:
                verdict = "not run"
            self.rows.append((suite, case, verdict, a.seconds if a else None, b.seconds if b else None,
                              shorten((b or a).value)))
            self.details += [f"{suite}, {case}: {line}" for line in found]
            self.details += [f"{suite}, {case}: {line}\n    known: {known[case, line]}" for line in excused]

    def summary(self):
        """Prints all results side by side."""
        print(f"\n{'suite':11} {'case':14} {'':8} {'plain s':>8} {'mount s':>8}  result")
        for suite, case, verdict, plain, mounted, result in self.rows:
            times = [f"{value:8.1f}" if value is not None else " " * 8 for value in (plain, mounted)]
            print(f"{suite:11} {case:14} {verdict:8} {times[0]} {times[1]}  {result}")
        for line in self.details:
            print(line)
        print(f"\n{self.failed} differences" if self.failed else "\nno difference")
