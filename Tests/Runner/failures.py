"""Tests of a unit with their times and failures, read from the event stream of Swift Testing."""
import collections
import json
import re
import plan
from dataclasses import dataclass, field


@dataclass
class Issue:
    place: str
    text: str


@dataclass
class Record:
    """One test of a unit."""
    name: str
    began: float | None = None
    ended: float | None = None
    skipped: bool = False
    reason: str = ""  # of a skipped test
    issues: list = field(default_factory=list)

    @property
    def failed(self):
        return bool(self.issues) or not (self.skipped or self.ended is not None)


def name_of(identity):
    """Returns the name without the place of the definition: `Target.Suite/test()`."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", identity)


def read(events, tests):
    """Returns a Record for each of `tests`, from the lines of an event stream whose last line may be incomplete."""
    records = {test: Record(test) for test in tests}
    for line in events:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        payload = event.get("payload", {})
        record = records.get(name_of(payload.get("testID", "")))
        if event.get("kind") == "event" and record:
            take(payload, record)
    return list(records.values())


def take(payload, record):
    kind = payload["kind"]
    if kind == "testStarted":
        record.began = payload["instant"]["absolute"]
    elif kind == "testEnded":
        record.ended = payload["instant"]["absolute"]
    elif kind == "testSkipped":
        record.skipped = True
        text = " ".join(message["text"] for message in payload.get("messages", []))
        record.reason = text.partition("skipped: ")[2].strip().strip('"')
    elif kind == "issueRecorded" and not payload.get("issue", {}).get("isKnown"):
        issue = payload.get("issue", {})
        place = issue.get("sourceLocation") or issue.get("_sourceLocation") or {}
        text = " ".join(message["text"] for message in payload.get("messages", []))
        record.issues.append(Issue(f"Tests/{place.get('fileID', '?')}:{place.get('line', '?')}", text))


def records(result):
    try:
        with open(result.job.events, encoding="utf-8", errors="replace") as file:
            return read(file, result.job.unit.tests)
    except FileNotFoundError:
        return read([], result.job.unit.tests)


def lacks_mounts(records):
    """Returns whether all tests on mounts were skipped, which makes the run worthless."""
    mounts = [record for record in records if record.name.startswith(plan.SERIAL)]
    return bool(mounts) and all(record.skipped for record in mounts)


def skips(records):
    """Returns a line for each reason why tests were skipped, the most frequent first."""
    counts = collections.Counter(record.reason or "no reason" for record in records if record.skipped)
    return [f"  {count} skipped: {reason}" for reason, count in counts.most_common()]


def passed(result):
    return result.status == 0 and not any(record.failed for record in records(result))


def log_lines(result):
    with open(result.job.log, encoding="utf-8", errors="replace") as file:
        return [re.sub(r"\x1b\[[0-9;]*m", "", line.rstrip("\n")) for line in file]


def excerpt(result, most=300):
    """Returns the log, or only its end if it is long."""
    lines = log_lines(result)
    return "\n".join(lines if len(lines) <= most else ["..."] + lines[-most:])


def how(record, result):
    if record.issues:
        return "failed"
    if record.began is None:
        return "did not begin"
    return "did not end: " + ("time limit" if result.timed_out else f"the process ended with {result.status}")


def describe(record, result):
    """Returns at most six lines about a failed test: its place, its message, its seed, and how to run it alone."""
    lines = [f"- {record.name} {how(record, result)}"]
    for issue in record.issues[:1]:
        lines += [f"    {issue.place}", f"    {' '.join(issue.text.split())[:240]}"]
    seeds = re.findall(r"\bseed\b\W{0,4}\d+", " ".join(issue.text for issue in record.issues) or "\n".join(log_lines(result)))
    if seeds:
        lines.append(f"    {seeds[-1]}")
    return lines + [f"    alone: make test FILTER='{record.name.split('(')[0]}'"]


def summary(results, most=6):
    """Returns at most 40 lines about the failed tests."""
    entries = []
    for result in results:
        failed = [record for record in records(result) if record.failed]
        begun = [record for record in failed if record.issues or record.began is not None]
        entries += [describe(record, result) for record in begun or failed[:1]]
        if not failed:
            passed = ", though each test passed" if result.job.unit.tests else ""
            entries.append([f"- {result.job.unit.title}: status {result.status}{passed}",
                            f"    log: {result.job.log}"])
    rest = len(entries) - most
    more = [f"and {rest} more:"] + [entry[0][:160] for entry in entries[most:][:7]] if rest > 0 else []
    return [line for entry in entries[:most] for line in entry] + more
