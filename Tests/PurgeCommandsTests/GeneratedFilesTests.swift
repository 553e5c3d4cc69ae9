import Testing

@testable import PurgeCommandLine
@testable import PurgeCommands

/// The manual page and the completions must contain everything that the help contains.
struct GeneratedFilesTests {
    /// Returns the options in a help page, extracted from its text.
    private func options(_ verb: String) -> [String] {
        Session("help", verb).output.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("    -") else { return nil }
            return String(line.dropFirst(4).prefix { $0 == "-" || $0.isLetter || $0.isNumber })
        }
    }

    /// Returns a part of the output of `purgefs generate`, from a line that contains `start` to the next one that contains `end`.
    private func part(_ what: String, from start: String, to end: String) throws -> String {
        let session = Session("generate", what)
        #expect(session.status == 0 && session.messages == "")
        let lines = session.output.split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.firstIndex { $0.contains(start) }, "\(start) in \(what)")
        let last = lines[(first + 1)...].firstIndex { $0.contains(end) } ?? lines.endIndex
        return lines[first..<last].joined(separator: "\n")
    }

    @Test func helpPagesHaveOptions() {
        #expect(options("run").contains("--total") && options("run").contains("-o"))
        #expect(options("mark").count == 9)
        #expect(options("app") == [])
    }

    @Test(arguments: Verbs.all.map(\.name)) func manualPage(verb: String) throws {
        let text = try part("man", from: ".SS \(verb): ", to: ".SS ")
        for option in options(verb) {
            let name = "\\fB" + option.replacing("-", with: "\\-") + "\\fR"
            #expect(text.contains("\n.TP\n" + name), "\(option)")
        }
        for example in try #require(Verbs.all.first { $0.name == verb }).examples {
            #expect(text.contains(Roff.bold(example)), "\(example)")
        }
    }

    @Test func mountManualPage() throws {
        let text = try part("man8", from: ".SH OPTIONS", to: ".SH ")
        for name in ["total", "others", "others\\-purgeable", "profile", "purge\\-latency", "protection", "log"] {
            #expect(text.contains("\n.TP\n\\fB\(name)\\fR="), "\(name)")
        }
        #expect(text.contains("\n.TP\n\\fBallow_other\\fR\n"))
        #expect(try part("man8", from: ".SH EXIT STATUS", to: ".SH ").contains("\\fB32\\fR"))
    }

    @Test func manualPageSections() {
        let page = Session("generate", "man").output
        for section in ["EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"] {
            #expect(page.split(separator: "\n").count { $0 == ".SH \(section)" } == 1, "\(section)")
        }
        #expect(page.split(separator: Roff.prose(HelpText.targetMeaning)).count == 2)
    }

    @Test(arguments: Verbs.all.map(\.name)) func bash(verb: String) throws {
        let text = try part("bash", from: "verb=\(verb) ", to: ";;")
        let words = text.split { " '\n".contains($0) }.map(String.init)
        for option in options(verb) {
            #expect(words.contains(option) || words.contains("options=" + option), "\(option)")
        }
    }

    @Test(arguments: Verbs.all.map(\.name)) func zsh(verb: String) throws {
        let names = try #require(Verbs.all.first { $0.name == verb }).aliases
        let text = try part("zsh", from: "        \(([verb] + names).joined(separator: "|")))", to: ";;")
        for option in options(verb) {
            let found = ["[", "=[", "=-[", "+["].contains {
                text.contains("'\(option)\($0)") || text.contains("'*\(option)\($0)")
            }
            #expect(found, "\(option)")
        }
    }

    @Test(arguments: Verbs.all.map(\.name)) func fish(verb: String) {
        let lines = Session("generate", "fish").output.split(separator: "\n").filter {
            $0.contains("'__purgefs_verb \(verb)'") || $0.contains("'__purgefs_verb \(verb) ")
                || $0.contains("'__purgefs_\(verb)_before \(verb)'")
        }
        for option in options(verb) {
            let name = option.hasPrefix("--") ? "-l \(option.dropFirst(2)) " : "-s \(option.dropFirst(1)) "
            #expect(lines.contains { $0.contains(" \(name)") }, "\(option)")
        }
    }

    @Test func allVerbsAreOfferedFirst() throws {
        let bash = try part("bash", from: "_purgefs_first_words=", to: "_purgefs_verb").split { " '=\n".contains($0) }
        let zsh = try part("zsh", from: "verbs=(", to: ")")
        let fish = Session("generate", "fish").output
        for name in Verbs.all.map(\.name) + ["help", "--help", "--version"] {
            #expect(bash.contains { $0 == name } && zsh.contains("'\(name):") && fish.contains(" -a \(name) -d "))
        }
    }

    /// No text is read as a troff request, and no character is rendered as another one.
    @Test func troffText() {
        #expect(Roff.prose("`a-b` isn't ~/.x") == #"\fBa\-b\fR isn\(aqt \(ti/.x"#)
        #expect(Roff.plain(".TH") == #"\&.TH"#)
        #expect(Roff.plain(#"'\n"#) == #"\(aq\en"#)
        #expect(Roff.prose("an odd ` stays") == #"an odd \(ga stays"#)
        #expect(Roff.synopsis("--total SIZE") == #"\fB\-\-total\fR \fISIZE\fR"#)
    }

    @Test func shellQuoting() {
        #expect(ShellText.quoted("it's") == #"'it'\''s'"#)
        #expect(ShellText.fishQuoted(#"it's \"#) == #"'it\'s \\'"#)
    }

    @Test func isNotShown() {
        #expect(!Session("help").output.contains("generate"))
        #expect(Session("generate").status == 64)
        #expect(
            Session("generate", "csh").messages.hasPrefix(
                "purgefs: generate: 'csh' is not man, man8, bash, zsh or fish"))
    }
}
