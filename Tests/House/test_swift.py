import unittest

from swift import Unbalanced, parse


def types(text):
    return {body.name: (body.lines, body.methods) for body in parse("x.swift", text).types}


def functions(text):
    return {each.name: each.lines for each in parse("x.swift", text).functions}


class ImportTests(unittest.TestCase):
    def test_every_manner_of_import(self):
        text = """
            import A
            @testable import B
            @preconcurrency public import C
            import struct D.Part
            internal import E
            // import F
            let text = "import G"
            let more = \"\"\"
                import H
                \"\"\"
            """
        found = parse("x.swift", text).imports
        self.assertEqual([each.module for each in found], ["A", "B", "C", "D", "E"])
        self.assertEqual([each.module for each in found if each.is_testable], ["B"])
        self.assertEqual(found[0].line, 2)


class TypeTests(unittest.TestCase):
    def test_lines_reach_from_the_keyword_to_the_brace(self):
        self.assertEqual(types("@Suite\nstruct A {\n    // b\n\n    let c = 1\n}\n"), {"A": (5, 0)})

    def test_a_nested_type_is_measured_on_its_own(self):
        text = "struct A {\n  func a() {}\n  enum B {\n    func b() {}\n    struct C {\n    }\n  }\n}"
        self.assertEqual(types(text), {"A": (3, 1), "A.B": (3, 1), "A.B.C": (2, 0)})

    def test_an_extension_has_the_name_that_it_extends(self):
        self.assertEqual(types("extension A.B: C where D == E {\n  init() {}\n}"), {"A.B": (3, 1)})

    def test_methods_are_functions_initialisers_and_subscripts(self):
        text = """struct A {
            init?(_ a: Int) { nil }
            deinit {}
            subscript(at: Int) -> Int { get { 1 } set {} }
            static func == (a: Self, b: Self) -> Bool { true }
            static func <<T>(a: T, b: T) -> Bool { true }
            class func c() { func local() {} }
            var computed: Int { 1 }
            let stored = B.init(1)
        }"""
        self.assertEqual(types(text)["A"][1], 6)

    def test_requirements_of_a_protocol_have_no_body(self):
        text = "protocol A {\n  associatedtype B: C\n  func a() -> B\n  var b: Int { get }\n  init(c: Int)\n}\nfunc d() {\n}"
        self.assertEqual(types(text), {"A": (6, 2)})
        self.assertEqual(functions(text), {"d": 2})

    def test_words_that_are_also_keywords(self):
        text = """struct A {
            let kind = type(of: self).class
            let value = 512
            private struct B {
            }
            enum C { case `init`, `class` }
            func `func`(for class: Int, extension: Int) {}
            let d = E.init { $0 }
        }"""
        self.assertEqual({name: methods for name, (_, methods) in types(text).items()}, {"A": 1, "A.B": 0, "A.C": 0})

    def test_a_type_in_a_function_is_measured_too(self):
        text = "struct A {\n  func a() {\n    struct B {\n      func b() {}\n    }\n  }\n}"
        self.assertEqual(types(text), {"A": (4, 1), "A.B": (3, 1)})

    def test_braces_in_text_close_nothing(self):
        text = 'struct A {\n  let a = "}" // }\n  let b = "\\(c.map { "}" })"\n  func d() {}\n}'
        self.assertEqual(types(text), {"A": (5, 1)})

    def test_private_types_are_known_as_such(self):
        found = parse("x.swift", "private final class A {}\nclass B {}\nfileprivate extension C {}").types
        self.assertEqual([body.is_private for body in found], [True, False, True])

    def test_braces_that_do_not_match_are_refused(self):
        for text in ("struct A {", "func a() { {", "}", "struct A { func a() { }"):
            with self.subTest(text), self.assertRaises(Unbalanced):
                parse("x.swift", text)


class FunctionTests(unittest.TestCase):
    def test_lines_reach_from_func_to_the_brace(self):
        text = "@Test(arguments: [\n  1,\n])\nfunc a(\n  b: Int = { 1 }()\n) -> (Int, [B]) {\n  c\n}"
        self.assertEqual(functions(text), {"a": 5})
        self.assertEqual([each.body_lines for each in parse("x.swift", text).functions], [1])

    def test_a_local_function_is_part_of_the_outer_one(self):
        self.assertEqual(functions("func a() {\n  func b() {\n  }\n}"), {"a": 4})

    def test_accessors_and_closures_are_functions(self):
        text = """struct A {
            var a: Int {
                1
            }
            var b = 1 {
                didSet {}
            }
            lazy var c: Int = {
                1
            }()
            static let d = [
                E { 1 },
            ]
            static let table = [
                1,
                2,
            ]
        }"""
        self.assertEqual(functions(text), {"A.a": 3, "A.b": 3, "A.c": 3, "A.d": 1})

    def test_a_value_may_go_on_in_the_next_line(self):
        text = "struct A {\n  let a =\n    b\n    .map { 1 }\n  func c() {\n  }\n}"
        self.assertEqual(functions(text), {"A.a": 1, "A.c": 2})


class VariableTests(unittest.TestCase):
    def test_only_stored_variables_count(self):
        text = """var global = 1
            struct A {
                static var shared: Int = 1
                private static var counted = 0 { didSet {} }
                static var computed: Int { 1 }
                static let constant = 1
                var own: Int
                func a() { var local = 1 }
            }"""
        found = parse("x.swift", text).variables
        self.assertEqual([(each.name, each.is_static) for each in found],
                         [("global", True), ("A.shared", True), ("A.counted", True), ("A.own", False)])
