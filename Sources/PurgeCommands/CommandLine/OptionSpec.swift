import PurgeModel

/// One option: how it is written, what it takes, what the help says. One table of these gives
/// parsing, help and completions.
struct OptionSpec: Hashable, Sendable {
    enum Value: Hashable, Sendable {
        case none
        case size
        case file
        case directory
        case text(String)
        case number(String)
        /// One of the words; `others` are taken too, but not shown.
        case choice(String, [String], others: [String] = [])
        /// The same, written `--option=WORD`, or left out.
        case optionalChoice(String, [String])
    }

    /// After the two dashes; for an option that has only a short form, that letter.
    let name: String
    let value: Value
    let help: String
    var isShort: Bool { name.count == 1 }
    /// For purgefs itself, not for people: left out of the help.
    var isHidden = false

    /// One that takes no value.
    init(_ name: String, _ help: String) { self.init(name, .none, help) }

    init(_ name: String, _ value: Value, hidden: Bool = false, _ help: String) {
        self.name = name
        self.value = value
        self.help = help
        isHidden = hidden
    }

    /// `--total`, `-o`.
    var text: String { (isShort ? "-" : "--") + name }

    /// Whether its value may begin with a dash.
    var isName: Bool {
        switch value {
        case .file, .directory, .text: true
        default: false
        }
    }

    /// `--total SIZE`, `--purgeable[=URGENCY]`.
    var synopsis: String {
        switch value {
        case .none: text
        case .size: text + " SIZE"
        case .file: text + " FILE"
        case .directory: text + " DIR"
        case .text(let word), .number(let word), .choice(let word, _, _): text + " " + word
        case .optionalChoice(let word, _): "\(text)[=\(word)]"
        }
    }

    /// Why `text` is no value for this option; nil if it is one.
    func objection(to text: String) -> String? {
        switch value {
        case .size: SizeText.objection(to: text)
        case .number where UInt32(text) == nil: "'\(text)' is not a number"
        case .file where text.isEmpty, .directory where text.isEmpty: "the name is empty"
        case .choice(_, let words, let others) where !(words + others).contains(text): Self.list(text, words)
        case .optionalChoice(_, let words) where !words.contains(text): Self.list(text, words)
        default: nil
        }
    }

    private static func list(_ text: String, _ words: [String]) -> String {
        "'\(text)' is not one of \(words.joined(separator: ", "))" + Suggestion.hint(for: text, among: words)
    }
}
