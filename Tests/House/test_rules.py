import unittest
from types import SimpleNamespace

import documents
import guarded
import imports
import lifetimes
import proofs
import prose
import references
import sizes
from finding import Finding, sift
from lexer import Source
from swift import parse


def tree_of(texts):
    return SimpleNamespace(
        paths=sorted(texts), texts=texts,
        swift={path: parse(path, text) for path, text in texts.items() if path.endswith(".swift")},
        c={path: Source(path, text) for path, text in texts.items() if path.endswith((".c", ".h"))},
        python=lambda: {path: text for path, text in texts.items() if path.endswith(".py")})


def whats(findings):
    return [finding.what for finding in findings]


TABLE = """# Page

## Modules

| target | what | may import |
|---|---|---|
| A, B | low | nothing |
| C | high: `a | b` | A, Glibc |

## Next

| D | no module | A |
"""
PACKAGE = """
    .systemLibrary(name: "A"), .target(name: "B"),
    .target(
        name: "C", dependencies: ["A"]),
    .testTarget(name: "CTests", dependencies: ["C"]),
"""


class GuardedRuleTests(unittest.TestCase):
    def lines(self, text, path="Sources/PurgeVolume/x.swift"):
        return [int(finding.place.split(":")[1]) for finding in guarded.find(tree_of({path: text}))]

    def test_a_closure_that_ignores_the_state_is_found(self):
        self.assertEqual(self.lines("let n = read { _ in node.blocks }"), [1])
        self.assertEqual(self.lines("f()\nguard read({ _ in node.io != nil }) else { return }"), [2])
        self.assertEqual(self.lines("change { state in\n    node.flags = []\n}"), [1])
        self.assertEqual(self.lines("try change { (state) throws(Errno) -> Int? in node.blocks }"), [1])
        self.assertEqual(self.lines("inSlices(nodes) { node, _ in node.lookups }"), [1])
        self.assertEqual(self.lines("moving {\n    f()\n} then: { _ in node.blocks }"), [3])

    def test_a_closure_that_uses_it_is_not(self):
        self.assertEqual(self.lines("let n = read { $0[node].blocks }"), [])
        self.assertEqual(self.lines("change { state in\n    if a { state[node].io.writers += 1 }\n}"), [])
        self.assertEqual(self.lines("try change { (state) throws(Errno) -> Int? in state[node].blocks }"), [])
        self.assertEqual(self.lines("inSlices(nodes) { node, state in state[node].lookups }"), [])

    def test_an_empty_change_and_other_places_are_not(self):
        self.assertEqual(self.lines("change { _ in }"), [])
        self.assertEqual(self.lines("// read { _ in node.blocks }"), [])
        self.assertEqual(self.lines("read { _ in node.blocks }", "Tests/PurgeVolumeTests/x.swift"), [])

    def test_a_variable_for_what_is_lent_is_found(self):
        self.assertEqual(self.lines("var kept: NodeState?\nread { kept = $0[node] }"), [1])
        self.assertEqual(self.lines("let all: [ObjectIdentifier: NodeState] = [:]"), [1])
        self.assertEqual(self.lines("extension NodeState {}\nfunc f(_ node: borrowing NodeState)"), [])
        self.assertEqual(self.lines("subscript(node: Node) -> NodeState { get { NodeState(node) } }"), [])

    def test_a_second_tree_is_found(self):
        self.assertEqual(self.lines("let blocks = Tree(device: device)[node].blocks"), [1])
        self.assertEqual(self.lines("tree = Tree(device: device)", "Sources/PurgeVolume/VolumeState.swift"), [])

    def test_testable_is_for_tests(self):
        self.assertEqual(self.lines("@testable import PurgeTree", "Sources/PurgeFUSE/x.swift"), [1])
        self.assertEqual(self.lines("@testable import PurgeTree", "Tests/PurgeFUSETests/x.swift"), [])


class LifetimeRuleTests(unittest.TestCase):
    def count(self, text):
        return len(list(lifetimes.find(tree_of({"Sources/A/x.swift": text}))))

    def test_a_temporary_is_found(self):
        self.assertEqual(self.count("f(try open(name).raw)"), 1)
        self.assertEqual(self.count("f(open[0]\n    .raw)"), 1)

    def test_what_has_a_name_is_not(self):
        self.assertEqual(self.count("let d = try open(name)\nf(d.raw) // open(name).raw"), 0)
        self.assertEqual(self.count("f(open(name).rawValue)"), 0)


class ImportRuleTests(unittest.TestCase):
    def test_the_table_is_read_row_by_row(self):
        self.assertEqual(imports.modules(TABLE), {"A": set(), "B": set(), "C": {"A", "Glibc"}})

    def test_dependencies_of_the_package(self):
        self.assertEqual(imports.dependencies(PACKAGE), {"A": set(), "B": set(), "C": {"A"}, "CTests": {"C"}})

    def check(self, path, text, package=PACKAGE):
        return whats(imports.find(tree_of({"docs/ARCHITECTURE.md": TABLE, "Package.swift": package, path: text})))

    def test_what_the_table_allows(self):
        self.assertEqual(self.check("Sources/C/x.swift", "import A\nimport Glibc"), [])
        self.assertEqual(self.check("Sources/C/Deep/x.swift", "import B"), ["C may not import B"])
        self.assertEqual(self.check("Sources/A/x.swift", "import Glibc"), ["A may not import Glibc"])

    def test_testable_is_for_tests(self):
        self.assertEqual(self.check("Sources/C/x.swift", "@testable import A"), ["@testable is for tests"])
        self.assertEqual(self.check("Tests/CTests/x.swift", "@testable import C\nimport Testing"), [])

    def test_tests_import_what_the_package_names(self):
        self.assertEqual(self.check("Tests/CTests/x.swift", "import A"), ["CTests may not import A"])

    def test_a_tool_imports_neither_the_engine_nor_another_tool(self):
        table = {"PurgeContainers": {"PurgeVolume"}, "PurgeCommands": {"PurgeContainers", "PurgeFUSE", "A", "B"},
                 "A": {"PurgeContainers", "PurgeModel"}, "B": {"PurgeContainers", "PurgeTree", "A"}}
        self.assertEqual(whats(imports.tools(table)), [f"B is a tool, so it may not import {each}" for each in ("A", "PurgeTree")])

    def test_a_target_without_a_row(self):
        self.assertEqual(self.check("Sources/E/x.swift", ""), ["the table in docs/ARCHITECTURE.md has no row for E"])

    def test_package_and_table_differ(self):
        package = PACKAGE.replace('["A"]', '["A", "B"]')
        self.assertEqual(self.check("Sources/C/x.swift", "", package),
                         ["C depends on A, B; the table in docs/ARCHITECTURE.md says A"])


class SizeRuleTests(unittest.TestCase):
    def test_extensions_in_all_files_are_added_up(self):
        found = sizes.types(tree_of({
            "Sources/M/A.swift": "public struct A {\n  func a() {}\n}",
            "Sources/M/A+B.swift": "extension A {\n  func b() {}\n}",
            "Sources/N/A+C.swift": "import M\nextension A {\n  func c() {}\n}"}).swift)
        self.assertEqual([(each.name, each.lines, each.methods) for each in found.values()], [("A", 9, 3)])

    def test_private_types_of_one_name_are_not_one_type(self):
        found = sizes.types(tree_of({
            "Sources/M/A.swift": "private struct A {\n}\nextension A {\n}",
            "Sources/M/B.swift": "private struct A {\n}"}).swift)
        self.assertEqual(sorted(each.lines for each in found.values()), [2, 4])

    def test_types_of_one_name_in_two_targets(self):
        found = sizes.types(tree_of({
            "Sources/M/A.swift": "struct A {\n}", "Tests/T/A.swift": "struct A {\n}\nextension A {\n}"}).swift)
        self.assertEqual(sorted(each.lines for each in found.values()), [2, 4])

    def test_somebody_elses_type_counts_for_each_target(self):
        found = sizes.types(tree_of({
            "Sources/M/A.swift": "extension Int {\n}", "Sources/N/A.swift": "extension Int {\n}"}).swift)
        self.assertEqual([each.lines for each in found.values()], [2, 2])

    def test_limits(self):
        def found(lines, methods):
            body = "\n".join(["func a() {}"] * methods + ["//"] * (lines - 2 - methods))
            return len(list(sizes.find_types(tree_of({"Sources/M/A.swift": "struct A {\n" + body + "\n}"}))))
        self.assertEqual([found(400, 40), found(401, 40), found(100, 41)], [0, 1, 1])

    def test_functions_in_all_languages(self):
        texts = {
            "Sources/M/A.swift": "func a() {" + "\n" * 40 + "}",
            "Sources/C/a.c": "static int b(int c,\n    int d) {" + "\n" * 39 + "}\nint e(void) {}\nstruct f { int g; };",
            "Tests/x.py": "def h():\n" + "    i()\n" * 40 + "def j():\n    pass\n"}
        self.assertEqual([finding.name for finding in sizes.find_functions(tree_of(texts))], ["a", "b", "h"])

    def test_callbacks(self):
        text = "func add() {\n operations.open = { a, b in\n" + "\n" * 9 + "}\n operations.`init` = { c($0) }\n let d = { e }\n}"
        found = tree_of({"Sources/PurgeFUSE/Callbacks/A.swift": text})
        self.assertEqual([(name, lines) for _, name, _, lines in sizes.callbacks(found)], [("open", 9), ("init", 1)])
        self.assertEqual(len(list(sizes.find_callbacks(found))), 1)

    def test_callbacks_that_hand_on(self):
        table = "func add() {\n operations.open = { Request($0)?.open($1, Int($2)) }\n}"
        method = "extension Request {\n func open() {" + "\n" * 10 + "}\n}"
        found = tree_of({"Sources/PurgeFUSE/Callbacks/A.swift": table, "Sources/PurgeFUSE/Callbacks/B.swift": method})
        self.assertEqual(list(sizes.callbacks(found)), [("Sources/PurgeFUSE/Callbacks/B.swift", "open", 2, 9)])


class ProofRuleTests(unittest.TestCase):
    def check(self, text):
        return [(use.word, use.has_proof) for use in proofs.uses(tree_of({"Sources/M/A.swift": text}).swift)]

    def test_a_proof_begins_with_the_word_and_says_something(self):
        self.assertEqual(self.check("// @unchecked: all under `lock`.\nclass A: @unchecked Sendable {}"), [("@unchecked", True)])
        for comment in ("", "// All under `lock`.", "// @unchecked: safe.", "// @unchecked: see above."):
            self.assertEqual(self.check(comment + "\nclass A: @unchecked Sendable {}"), [("@unchecked", False)], comment)

    def test_a_proof_is_at_the_line_or_right_above(self):
        proof = "// Unmanaged: the caller\n// keeps it."
        for text in (f"{proof}\nlet a: Unmanaged<B>", "let a: Unmanaged<B>  // Unmanaged: the caller keeps it.",
                     f"{proof}\nfunc a() {{\n  Unmanaged<B>()\n}}"):
            self.assertEqual(self.check(text), [("Unmanaged", True)], text)
        for text in (f"{proof}\n\nlet a: Unmanaged<B>", f"{proof}\nlet b = 1\nlet a: Unmanaged<B>",
                     f"let a: Unmanaged<B>\n{proof}"):
            self.assertEqual(self.check(text), [("Unmanaged", False)], text)

    def test_lines_that_stand_together_share_a_proof(self):
        text = "// Unmanaged: the caller keeps both.\nlet a: Unmanaged<B>\nlet c: Unmanaged<B>"
        self.assertEqual(self.check(text), [("Unmanaged", True)] * 2)

    def test_a_type_may_have_it_as_its_first_line(self):
        self.assertEqual(self.check("final class A: @unchecked Sendable {\n  // @unchecked: all under `lock`.\n}"),
                         [("@unchecked", True)])

    def test_words_in_text_are_none(self):
        self.assertEqual(self.check('// Unmanaged\nlet a = "nonisolated(unsafe)"'), [])

    def test_static_variables(self):
        self.assertEqual(self.check("enum A {\n  static var a = 1\n  static let b = Mutex(1)\n}"), [("static var", False)])

    def test_variables_in_c(self):
        text = "// Written once.\nstatic int a = 1;\n\n\n\n\nchar *b[4];\nstatic const int c = 1;\nstatic _Atomic int d;\nextern int e;\n" \
            "int f(void);\nstruct g { int h; };\nint i(void) {\n    int j = 1;\n}\n_Thread_local int k;\n"
        found = list(proofs.c_uses(tree_of({"Sources/C/a.c": text}).c))
        self.assertEqual([(use.word, use.has_proof) for use in found], [("variables in C", True), ("variables in C", False)])


class ReferenceRuleTests(unittest.TestCase):
    PAGE = "# Page\n\n## Lock order\n\n```\n# no heading\n```\n"

    def check(self, path, text):
        return whats(references.find(tree_of({"docs/PAGE.md": self.PAGE, "Sources/M/A+B.swift": "", path: text})))

    def test_pointers_to_headings(self):
        self.assertEqual(self.check("a.swift", "// docs/PAGE.md, Lock\n// order, says so"), [])
        self.assertEqual(self.check("a.swift", "// docs/PAGE.md, Locks"), ["PAGE.md has no heading 'Locks'"])
        self.assertEqual(self.check("a.swift", "// docs/PAGE.md, No heading"), ["PAGE.md has no heading 'No heading'"])
        self.assertEqual(self.check("a.swift", "// docs/PAGE.md, which says so"), [])

    def test_pages_that_are_not_there(self):
        self.assertIn("there is no OTHER.md", self.check("a.swift", "// OTHER.md says so"))

    def test_citations(self):
        # Split, so that this file does not cite them itself.
        for page in ("SPE" + "C", "FUSE" + ".md"):
            self.assertEqual(self.check("a.swift", f"// {page}, section 3"), [f"{page} is not in the repository"])
        self.assertEqual(self.check("a.swift", "let inSPECtion = SPECS"), [])

    def test_source_files(self):
        self.assertEqual(self.check("a.swift", "// see A+B.swift, M/A+B.swift and <linux/fuse.h>"), [])
        self.assertEqual(self.check("a.swift", "// see B.swift"), ["there is no file B.swift"])
        self.assertEqual(self.check("a.swift", 'open("b.swift")'), [])

    def test_paths_that_begin_with_our_folders(self):
        self.assertEqual(self.check("Makefile", "run Sources/M and docs/*.md."), [])
        self.assertEqual(self.check("Makefile", "run Sources/N"), ["there is no Sources/N"])

    def test_links(self):
        self.assertEqual(self.check("docs/B.md", "[a](PAGE.md#lock-order) [b](https://c) [d](#e)\n# E"), [])
        self.assertEqual(self.check("docs/B.md", "[a](PAGE.md#lock)"), ["docs/PAGE.md has no heading '#lock'"])
        self.assertEqual(self.check("docs/B.md", "[a](b.md)"), ["there is no docs/b.md"])
        self.assertEqual(self.check("docs/B.md", "# E\n\n(below, E) (above, F)"), ["there is no heading 'F'"])

    def test_examples_are_no_prose(self):
        self.assertEqual(self.check("docs/B.md", "```\ncc b.c\n```"), [])


class DocumentRuleTests(unittest.TestCase):
    SOURCES = {
        "Sources/M/A.swift": "struct Store {\n  let a, b: Int\n  func open() { let inside = 1 }\n}\ntypealias Short = Store",
        "Sources/M/Store+More.swift": "extension Store {\n  private(set) var c: Int { 1 }\n}",
        "Sources/CShims/a.c": "int shim_a(void) { return 0; }  // shim_b"}

    def check(self, page, path="docs/INTERNALS.md", **others):
        return whats(documents.find(tree_of({**self.SOURCES, path: page, **others})))

    def test_types(self):
        self.assertEqual(self.check("`Store`, `Short`, `EIO`, `file` and Unknown"), [])
        self.assertEqual(self.check("`Stores`"), ["there is no type Stores"])
        self.assertEqual(self.check("```\n`Stores`\n```"), [])
        self.assertEqual(self.check("`Stores`", path="docs/RULES.md"), [])

    def test_members(self):
        self.assertEqual(self.check("`Store.a`, `Store.open`, `Store.c`, `Other.swift`"), [])
        self.assertEqual(self.check("`Store.opens`, `Store.Int`"), ["Store has no opens", "Store has no Int"])
        self.assertEqual(self.check("`Short.a`"), ["Short has no a"])

    def test_names_in_a_target(self):
        self.assertEqual(self.check("`shim_a` in CShims, `shim_b` in no target"), [])
        self.assertEqual(self.check("`shim_b` in CShims"), ["there is no shim_b in CShims"])

    def test_files_of_extensions(self):
        self.assertEqual(self.check("`Store+More` and `Store+Less`"), ["there is no file Store+Less.swift"])

    def test_each_test_target_has_a_row(self):
        package = '.testTarget(\n  name: "ATests"), .testTarget(name: "BTests"), .target(name: "C")'
        page = "| folder |\n|---|\n| ATests | `a` |\n| Support | |\n| CTests | |"
        self.assertEqual(self.check(page, path="docs/TESTING.md", **{"Package.swift": package}),
                         ["the table has no row for BTests", "Package.swift has no CTests"])

    def test_code_is_fenced(self):
        def lines(page):
            return [found.place for found in documents.unfenced("a.md", page)]
        self.assertEqual(lines("a\n\n    b\n"), ["a.md:3"])
        self.assertEqual(lines("\tb\n"), ["a.md:1"])
        self.assertEqual(lines("a\n    goes on\n\n```\n\n    b\n```\n"), [])
        self.assertEqual(lines("- a\n\n  more\n\n    still more\n"), [])
        self.assertEqual(lines("- a\n\n      b\n\nc\n\n    d\n"), ["a.md:3", "a.md:7"])


class ExceptionTests(unittest.TestCase):
    FINDING = Finding("types", "A", "a.swift:1", "too long")

    def test_an_exception_covers_its_name_in_its_rule(self):
        self.assertEqual(sift([self.FINDING], {"types": {"A": "why"}}), ([], []))
        self.assertEqual(sift([self.FINDING], {"functions": {"A": "why"}}), ([self.FINDING], [("functions", "A")]))

    def test_an_exception_that_covers_nothing_is_told(self):
        self.assertEqual(sift([], {"types": {"A": "why"}}), ([], [("types", "A")]))


class ProseTests(unittest.TestCase):
    def check(self, path, text):
        return whats(prose.find(tree_of({path: text})))

    def test_free_relatives_are_counted(self):
        found = self.check("Sources/A/a.swift", "// Skips what is open, and who has a lock.\nlet a = 1\n")
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("2 free relatives, 222.2 where 0.8 are allowed"), found)

    def test_that_of_and_beginnings_are_counted(self):
        text = "// Of open files, the name; of pages, that of the owner.\n//\n// Those of others stay.\nlet a = 1\n"
        self.assertEqual(sorted(each.split(",")[0] for each in self.check("Tests/A/a.swift", text)),
                         ["2 sentences that begin with a qualification", "2 that of"])

    def test_one_is_no_habit(self):
        self.assertEqual(self.check("Sources/A/a.swift", "// Skips what is open.\nlet a = 1\n"), [])

    def test_questions_and_code_are_not_counted(self):
        self.assertEqual(self.check("docs/A.md", "What is this? Who has it now? `what is` and `who has` open.\n"), [])

    def test_pages_have_no_examples_and_tables(self):
        self.assertEqual(self.check("docs/A.md", "```\nwhat is open, who has\n```\n\n| what is | who has |\n"), [])

    def test_texts_of_the_program_and_names_of_tests(self):
        text = 'func a() { b("use what is open and \\(what.is) who has more", "what is", @Test("skips what is open, who has") )}\n'
        self.assertIn("4 free relatives", self.check("Sources/A/a.swift", text.replace('@Test(', 'c('))[0])
        self.assertEqual(self.check("Tests/A/a.swift", 'let a = "takes what is open and who has it"\n'), [])
        self.assertIn("2 free relatives", self.check("Tests/A/a.swift", '@Test("takes what is open and who has it")\nfunc a() {}\n')[0])

    def test_a_sentence_has_its_place(self):
        tree = tree_of({"Sources/A/a.swift": "let a = 1\n\n// Skips what is open.\n"})
        self.assertEqual(list(prose.listed(tree)), ["Sources/A/a.swift:3: Skips what is open."])
