import PurgeModel

/// One option: its spelling, its value, and its help. Both the parser and help use a table of these.
package struct OptionSpec: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case none
        case size
        /// A duration, or `0`.
        case duration
        case file
        case directory
        /// Two words: a duration since the start of COMMAND, and the change to make then.
        case moment([Setting])
        case text(String)
        case number(String)
        /// One of the words; `others` are accepted too, but not shown.
        case choice(String, [String], others: [String] = [])
        /// One of the words, written `--option=WORD` or omitted.
        case optionalChoice(String, [String])
        /// One or several of the words, separated by commas.
        case list(String, [String])
    }

    /// The name after the two dashes; for an option that has only a short form, its letter.
    package let name: String
    package let value: Value
    package let help: String
    package var isShort: Bool { name.count == 1 }
    /// Whether the option is for purgefs's own use, and not in the help.
    package var isHidden = false
    /// Whether the option may be repeated; all its values then count. Otherwise a second value is refused.
    package var addsUp = false

    /// Creates an option without a value.
    package init(_ name: String, _ help: String) { self.init(name, .none, help) }

    package init(_ name: String, _ value: Value, hidden: Bool = false, addsUp: Bool = false, _ help: String) {
        self.name = name
        self.value = value
        self.help = help
        isHidden = hidden
        self.addsUp = addsUp
    }

    /// The option as it is typed: `--total`, `-o`.
    package var text: String { (isShort ? "-" : "--") + name }

    /// Whether the option's value is free text, which may even be `--`.
    package var isName: Bool {
        switch value {
        case .file, .directory, .text, .list: true
        default: false
        }
    }

    /// The option with its value: `--total SIZE`, `--purgeable[=URGENCY]`.
    package var synopsis: String {
        switch value {
        case .none: text
        case .size: text + " SIZE"
        case .duration: text + " DURATION"
        case .file: text + " FILE"
        case .directory: text + " DIR"
        case .moment: text + " DURATION NAME=VALUE"
        case .text(let word), .number(let word), .choice(let word, _, _): text + " " + word
        case .optionalChoice(let word, _): "\(text)[=\(word)]"
        case .list(let word, _): "\(text) \(word)[,\(word)...]"
        }
    }

    /// Returns why `text` is not valid for this option; nil if it is.
    package func objection(to text: String) -> String? {
        switch value {
        case .size: SizeText.objection(to: text)
        case .duration: DurationText.objection(toDelay: text)
        case .number where Int64(text) == nil && !text.isEmpty && text.utf8.allSatisfy(Self.digits.contains):
            "'\(text)' is more than \(Int64.max)"
        case .number where text.first == "-" || text.first == "+" || Int64(text) == nil: "'\(text)' is not a number"
        case .file where text.isEmpty, .directory where text.isEmpty: "the name is empty"
        case .choice(_, let words, let others) where !(words + others).contains(text):
            Self.objection(to: text, among: words)
        case .optionalChoice(_, let words) where !words.contains(text): Self.objection(to: text, among: words)
        default: nil
        }
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    package static func objection(to text: String, among words: [String]) -> String {
        "'\(text)' is not one of \(words.joined(separator: ", "))" + Suggestion.hint(for: text, among: words)
    }
}

extension OptionSpec {
    package static let json = OptionSpec("json", "print JSON")
    package static let dryRun = OptionSpec("dry-run", "show what would be done, and do nothing")
}
