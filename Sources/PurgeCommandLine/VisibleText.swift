/// Names and paths in a printable form: an app's file names can neither end a line nor control the terminal.
package enum VisibleText {
    package static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.map { isControl($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
    }

    /// Whether a character is a C0 or C1 control, DEL, or a separator of lines or paragraphs. True also for the controls of the
    /// writing direction, which reorder the text beside them, and for characters that are invisible or look like a space.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
        case 0x00A0, 0x061C, 0x200B, 0x200E, 0x200F, 0x202A...0x202F, 0x2060...0x2069, 0xFEFF, 0xE0000...0xE007F: true
        default: false
        }
    }
}
