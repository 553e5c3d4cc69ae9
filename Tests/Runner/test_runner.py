"""Tests of the runner: the division of tests into units, the reading of event streams, and the pool."""
import json
import os
import sys
import tempfile
import unittest
from types import SimpleNamespace

import bundle
import failures
import plan
from pool import Job, Pool

A, B, C = "MountTests.Mounts/ATests/a()", "MountTests.Mounts/ATests/b()", "MountTests.Mounts/BTests/c()"
D = "PurgeModelTests.DTests/d()"


def event(test, kind, at, **more):
    return json.dumps({"kind": "event", "payload": {"testID": test + "/File.swift:1:2", "kind": kind,
                                                    "instant": {"absolute": at}, **more}})


class PlanTests(unittest.TestCase):
    def test_each_test_is_in_one_unit(self):
        units = plan.units([A, B, C, D], {A: 60, B: 1, C: 2, D: 0.1})
        self.assertEqual([unit.tests for unit in units], [[A], [C, B], [D]])
        self.assertEqual(units[1].without, [A])
        self.assertEqual([unit.seconds for unit in units], [60, 3, 0.1])

    def test_a_unit_is_filled_up_to_its_length(self):
        tests = [f"MountTests.Mounts/S{number}/a()" for number in range(4)]
        units = plan.units(tests, {test: 3.5 for test in tests})
        self.assertEqual([len(unit.tests) for unit in units], [1, 1, 1, 1])
        self.assertEqual(len(plan.units(tests, {test: 1.5 for test in tests})), 1)

    def test_tests_of_one_suite_may_be_given_alone(self):
        unit, = plan.units([B], {})
        self.assertEqual(unit.names, ["MountTests.Mounts/ATests/"])


class FailuresTests(unittest.TestCase):
    def test_reads_a_stream_that_breaks_off(self):
        issue = {"isKnown": False, "sourceLocation": {"fileID": "MountTests/MarkTests.swift", "line": 7}}
        stream = [event(A, "testStarted", 1), event(A, "issueRecorded", 2, issue=issue, messages=[{"text": "seed: 5"}]),
                  event(A, "testEnded", 3.5), event(B, "testStarted", 4), event(C, "testStarted", 4), event(C, "testEnded", 5),
                  event(D, "testSkipped", 5), '{"kind":"ev']
        a, b, c, d = failures.read(stream, [A, B, C, D])
        self.assertEqual([record.failed for record in (a, b, c, d)], [True, True, False, False])
        self.assertEqual(a.issues[0].place, "Tests/MountTests/MarkTests.swift:7")
        self.assertEqual(a.ended - a.began, 2.5)

    def test_a_test_that_did_not_run_has_failed(self):
        self.assertTrue(failures.read([], [A])[0].failed)

    def test_the_end_of_the_output_says_what_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            events, log = os.path.join(folder, "e"), os.path.join(folder, "l")
            issue = {"sourceLocation": {"fileID": "MountTests/MarkTests.swift", "line": 7}}
            with open(events, "w", encoding="utf-8") as file:
                file.write("\n".join([event(A, "testStarted", 1), event(A, "issueRecorded", 2, issue=issue,
                                      messages=[{"text": "no, with seed: 5"}]), event(A, "testEnded", 3)]))
            open(log, "w", encoding="utf-8").close()
            job = Job(SimpleNamespace(tests=[A], title="ATests"), [], folder, log, events)
            lines = failures.summary([SimpleNamespace(job=job, status=1, timed_out=False)])
        text = "\n".join(lines)
        for part in (A, "Tests/MountTests/MarkTests.swift:7", "seed: 5", "make test FILTER='MountTests.Mounts/ATests/a'"):
            self.assertIn(part, text)

    def test_a_command_beside_the_tests(self):
        with tempfile.TemporaryDirectory() as folder, Pool(2, 60) as pool:
            results = list(pool.run(bundle.commands(folder, folder, ["exit 3", "true"])))
        self.assertEqual(sorted(failures.passed(result) for result in results), [False, True])
        self.assertEqual(failures.summary([each for each in results if not failures.passed(each)])[0], "- exit 3: status 3")

    def test_a_run_without_mounts_is_red(self):
        skipped, run = failures.read([event(A, "testSkipped", 1), event(D, "testStarted", 1), event(D, "testEnded", 2)], [A, D])
        self.assertTrue(failures.lacks_mounts([skipped, run]))
        self.assertFalse(failures.lacks_mounts([run]))

    def test_reasons_of_skips(self):
        def record(text):
            messages = [{"symbol": "skip", "text": text}] if text else []
            return failures.read([event(A, "testSkipped", 1, messages=messages)], [A])[0]

        root = "Test f() skipped: \"only root makes things for others\""
        records = [record(None), record(root), record(root)] + failures.read([], [D])
        self.assertEqual(failures.skips(records), ["  2 skipped: only root makes things for others",
                                                   "  1 skipped: no reason"])

    def test_at_most_forty_lines(self):
        results = [SimpleNamespace(job=Job(SimpleNamespace(tests=[f"T.S/{n}()"], title="S"), [], "/", os.devnull, "/nonexistent"),
                                   status=1, timed_out=False) for n in range(100)]
        self.assertLessEqual(len(failures.summary(results)), 40)


class PoolTests(unittest.TestCase):
    def run_all(self, commands, size=2, limit=60):
        with tempfile.TemporaryDirectory() as folder, Pool(size, limit) as pool:
            jobs = [Job(number, words, folder, os.path.join(folder, str(number)), "") for number, words in enumerate(commands)]
            return {result.job.unit: result for result in pool.run(jobs)}

    def test_each_command_has_a_result(self):
        results = self.run_all([["sh", "-c", f"exit {number}"] for number in range(5)])
        self.assertEqual([results[number].status for number in range(5)], [0, 1, 2, 3, 4])

    def test_a_command_over_its_limit_is_killed(self):
        results = self.run_all([["sleep", "1000"]], limit=0.05)
        self.assertTrue(results[0].timed_out)
        self.assertEqual(results[0].status, -9)


if __name__ == "__main__":
    unittest.main()
