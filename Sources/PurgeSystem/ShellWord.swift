/// Paths in commands that messages advise: whatever a path contains, a shell takes it as one operand.
public enum ShellWord {
    /// Returns the path as it is if it has only plain characters, and otherwise in quotes. Control characters and others that
    /// are invisible become the escapes of `$'...'`, so the result can be printed. bash, zsh and ksh understand them.
    public static func of(_ path: String) -> String {
        // Without this, the path would be an option.
        quoted(path.utf8.first == UInt8(ascii: "-") ? "./" + path : path)
    }

    private static func quoted(_ path: String) -> String {
        // zsh expands a leading equals sign.
        if !path.isEmpty, !path.hasPrefix("="), path.utf8.allSatisfy(isPlain) { return path }
        let isPrintable = path.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && !isInvisible($0) }
        if isPrintable {
            // Not by characters: a combining mark would make one of the quote.
            return "'" + path.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
        }
        let escaped = path.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(Unicode.Scalar(byte))
            case 0x20..<0x7F: String(Unicode.Scalar(byte))
            // Three octal digits: a digit that follows cannot become part of the escape.
            default: "\\" + String(repeating: "0", count: 3 - String(byte, radix: 8).count) + String(byte, radix: 8)
            }
        }
        return "$'" + escaped.joined() + "'"
    }

    /// Returns the words as a command line.
    public static func line(_ words: [String]) -> String { words.map(word).joined(separator: " ") }

    /// Returns an argument, which unlike a path may be an option.
    private static func word(_ word: String) -> String {
        word.utf8.first == UInt8(ascii: "-") && word.utf8.allSatisfy(isPlain) ? word : quoted(word)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "/._-+,:@%=".utf8.contains(byte)
        }
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: true
        case .spaceSeparator: scalar.value != 0x20
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
