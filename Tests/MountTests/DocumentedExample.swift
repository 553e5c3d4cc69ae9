import Foundation
import Support

/// A fenced block of a page with the comment above it. docs/TESTING.md describes the format of both.
struct DocumentedExample: Sendable, CustomStringConvertible {
    /// Environment that the test prepares for the example.
    enum Place: String { case empty, mounted, store }

    let page: String
    let line: Int
    let language: String
    let lines: [String]
    var place = Place.empty
    /// Options of `purgefs mount`.
    var options = ""
    var preparation: [String] = []
    var meanwhile: [String] = []
    var checks: [String] = []
    /// The reason why the example is not run; nil for none.
    var excuse: String?
    /// Whether only `make long` runs the example.
    var isLong = false
    /// The command whose output the block shows.
    var source: String?
    /// The file that the block quotes.
    var quoted: String?

    var description: String { "\(page):\(line)" }
    var isRun: Bool { excuse == nil && source == nil && quoted == nil && language != "text" }

    /// Commands to run: in a console block, the lines that begin with `$ `. Its other lines are the expected output.
    var commands: [String] {
        language == "console" ? lines.filter { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) } : lines
    }
    var output: [String] { lines.filter { !$0.hasPrefix("$ ") } }
}

extension DocumentedExample {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// All examples of README.md and docs/.
    static let all: [DocumentedExample] = {
        let names = ["README.md"] + ((try? Files.names(in: "\(root)/docs")) ?? []).sorted().map { "docs/\($0)" }
        return names.filter { $0.hasSuffix(".md") }.flatMap { all(in: Files.text("\(root)/\($0)"), page: $0) }
    }()

    /// Returns the examples of a page. A comment belongs to the block right after it.
    static func all(in text: String, page: String) -> [DocumentedExample] {
        var examples: [DocumentedExample] = []
        var note: [String] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var next = 0
        func take(through isLast: (String) -> Bool) -> [String] {
            let end = lines[next...].firstIndex(where: isLast) ?? lines.count - 1
            defer { next = end + 1 }
            return Array(lines[next...end])
        }
        while next < lines.count {
            if lines[next].hasPrefix("<!--") {
                note = take { $0.hasSuffix("-->") }
            } else if lines[next].hasPrefix("```") {
                let line = next + 1
                let language = String(lines[next].dropFirst(3))
                next += 1
                let block = take { $0.hasPrefix("```") }.dropLast()
                var example = DocumentedExample(page: page, line: line, language: language, lines: Array(block))
                example.take(note)
                examples.append(example)
                note = []
            } else {
                if !lines[next].isEmpty { note = [] }
                next += 1
            }
        }
        return examples
    }

    private mutating func take(_ note: [String]) {
        for line in note {
            let text = line.replacingOccurrences(of: "<!--", with: "").replacingOccurrences(of: "-->", with: "")
                .trimmingCharacters(in: .whitespaces)
            guard let colon = text.firstIndex(of: ":") else { continue }
            let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            switch text[..<colon] {
            case "example":
                let words = value.split(separator: " ", maxSplits: 1)
                guard let place = words.first.flatMap({ Place(rawValue: String($0)) }) else {
                    excuse = "an unknown place in the comment above it: \(text)"
                    break
                }
                self.place = place
                options = words.count > 1 ? String(words[1]) : ""
            case "prepare": preparation.append(value)
            case "meanwhile": meanwhile.append(value)
            case "check": checks.append(value)
            case "run by" where value == "make long": isLong = true
            case "not run": excuse = value
            case "shown by": source = value
            case "quoted from": quoted = value
            default: excuse = "an unknown word in the comment above it: \(text)"
            }
        }
    }
}
