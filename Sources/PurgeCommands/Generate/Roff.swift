import PurgeCommandLine

/// Text for troff, in the macros of man(7).
enum Roff {
    /// Characters that troff would interpret, or would show as others: `-` as a hyphen, `'` as a quote.
    private static let escapes: [Character: String] = [
        "\\": #"\e"#, "-": #"\-"#, "'": #"\(aq"#, "`": #"\(ga"#, "~": #"\(ti"#, "^": #"\(ha"#, "\"": #"\(dq"#,
    ]

    /// The first lines of a page.
    static func header(_ title: String, _ section: Int, _ manual: String) -> [String] {
        [
            #".\" Made by `purgefs generate` from the table that the help is made from."#,
            ".TH \(title) \(section) \"\" \"purgefs \(Version.number)\" \"\(manual)\"", ".nh", ".ad l",
        ]
    }

    static func plain(_ text: String) -> String {
        let escaped = text.reduce(into: "") { $0 += escapes[$1] ?? String($1) }
        return escaped.first == "." ? #"\&"# + escaped : escaped
    }

    /// Returns a string with the parts in backquotes in bold.
    static func prose(_ text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        guard parts.count % 2 == 1 else { return plain(text) }
        return parts.enumerated().map { $0 % 2 == 0 ? plain($1) : bold($1) }.joined()
    }

    static func bold(_ text: String) -> String { #"\fB"# + plain(text) + #"\fR"# }

    /// Returns a synopsis. Words in capitals are placeholders; all others are typed as they are.
    static func synopsis(_ text: String) -> String {
        var result = ""
        var word = ""
        func finish() {
            guard !word.isEmpty else { return }
            let isName = word.count > 1 && word.allSatisfy { $0.isUppercase || $0 == "_" }
            result += isName ? #"\fI"# + plain(word) + #"\fR"# : bold(word)
            word = ""
        }
        for character in text {
            if " []()|=.,".contains(character) {
                finish()
                result += plain(String(character))
            } else {
                word.append(character)
            }
        }
        finish()
        return result.first == "." ? #"\&"# + result : result
    }

    static func paragraphs(_ texts: [String]) -> [String] {
        Array(texts.map { [prose($0)] }.joined(separator: [".PP"]))
    }

    /// Returns a table with names on the left and meanings on the right.
    static func table(_ rows: [HelpSection.Line], name: (String) -> String = bold) -> [String] {
        rows.flatMap { $0.name.isEmpty ? [".PP", prose($0.meaning)] : [".TP", name($0.name), prose($0.meaning)] }
    }

    /// Returns commands, each on its own line.
    static func commands(_ lines: [String]) -> [String] {
        [".PP", ".RS 4", ".nf"] + lines.map { bold($0) } + [".fi", ".RE"]
    }
}
