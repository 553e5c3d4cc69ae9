import PurgeSystem
import Support
import Testing

struct ShellWordTests {
    @Test(arguments: [
        ("/mnt/app", "/mnt/app"), ("a+b,c:d@e%f=g_h-i.j", "a+b,c:d@e%f=g_h-i.j"), ("", "''"), ("my app", "'my app'"),
        ("-p", "./-p"), ("--", "./--"), ("-rf x", "'./-rf x'"), ("~/x", "'~/x'"), ("$HOME/x", "'$HOME/x'"),
        ("it's", #"'it'\''s'"#), ("'\u{301}x", "''\\''\u{301}x'"), ("x; touch y", "'x; touch y'"), ("a\\b", #"'a\b'"#),
        ("é", "'é'"), ("=ls", "'=ls'"),
        ("a\nb 1", #"$'a\012b 1'"#), ("it's\u{1B}[31m", #"$'it\'s\033[31m'"#), ("\u{202E}x", #"$'\342\200\256x'"#),
        ("a\u{A0}b\\", #"$'a\302\240b\\'"#),
    ]) func words(path: String, word: String) { #expect(ShellWord.of(path) == word) }

    /// bash reads each word as exactly the path.
    @Test func inAShell() throws {
        let paths = [
            "", " ", "a b", "'", "''", "$x`y`\"\\", "a\nrm -r b\n", "\u{1}1", "\t", "!x", "*", "~", "#x", "ü\u{200B}",
            "'\u{301}; exit; '\u{301}",
        ]
        for path in paths {
            let outcome = try Program.run("bash", "-c", "printf '%s.' \(ShellWord.of(path))")
            #expect(try outcome.succeeded() == path + ".", "\(ShellWord.of(path))")
        }
    }

    @Test func line() {
        #expect(ShellWord.line(["purgefs", "app", "--json", "a b", "-x y"]) == "purgefs app --json 'a b' '-x y'")
    }
}
