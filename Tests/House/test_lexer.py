import unittest

from lexer import Source, Unreadable


def code(text):
    return Source("x.swift", text).code


class LexerTests(unittest.TestCase):
    def test_strings_become_blank_and_keep_their_length(self):
        self.assertEqual(code('let a = "b { c"; d'), 'let a = "     "; d')

    def test_an_escaped_quote_does_not_end_a_string(self):
        self.assertEqual(code(r'"a\"}" {'), '"    " {')

    def test_a_raw_string_ends_at_its_own_delimiter(self):
        self.assertEqual(code('#"a"}"# {'), '"     " {')

    def test_a_string_of_several_lines_keeps_its_lines(self):
        blank = code('"""\n  } " ""\n  """ {')
        self.assertEqual(blank.count("\n"), 2)
        self.assertTrue(blank.endswith(" {"))
        self.assertNotIn("}", blank)

    def test_what_is_interpolated_may_hold_strings_and_braces(self):
        self.assertEqual(code(r'"a \(b.map { "}\(c)" }) d" {').strip('" '), "{")

    def test_an_interpolation_of_a_raw_string_has_its_hashes(self):
        self.assertEqual(code('#"\\("# {').strip('" '), "{")
        self.assertEqual(code('#"\\#(a(")"))" {"# {').strip('" '), "{")

    def test_block_comments_nest(self):
        self.assertEqual(code("/* a /* } */ } */ {").strip(), "{")

    def test_a_comment_within_a_string_is_none(self):
        source = Source("x.swift", 'open("https://a") // b')
        self.assertEqual([comment.text for comment in source.comments], ["b"])

    def test_comments_are_kept_with_their_lines(self):
        source = Source("x.swift", "a\n/// b\n/* c\n   d */")
        self.assertEqual([(comment.line, comment.text) for comment in source.comments],
                         [(2, "b"), (3, "c"), (4, "d")])

    def test_a_regular_expression_is_no_code(self):
        self.assertEqual(code('let a = #/[{"]/# {').strip('" ')[-1], "{")
        self.assertNotIn("[", code('let a = #/[{"]/# {'))

    def test_a_character_of_c_is_no_string(self):
        self.assertEqual(code("if (a == '\"') {").count("{"), 1)
        self.assertNotIn("{", code("if (a == '{')"))

    def test_what_does_not_end_is_refused(self):
        for text in ('"a', '"""\na', "/* a", '#"a"'):
            with self.subTest(text), self.assertRaises(Unreadable):
                code(text)
