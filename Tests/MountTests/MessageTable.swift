import Foundation
import Support

/// Messages/invocations.txt: command lines with their exit statuses and messages. docs/TESTING.md describes its format.
struct MessageTable {
    struct Entry: Equatable, Sendable {
        /// The comment lines above the command, with their line feeds.
        var heading = ""
        var command = ""
        var status: Int32 = 0
        /// Lines of standard output, each after `> `, followed by lines of standard error.
        var lines: [String] = []

        var text: String { heading + (["$ \(command)", "= \(status)"] + lines).joined(separator: "\n") + "\n\n" }
    }

    static let path = "\(DocumentedExample.root)/Tests/MountTests/Messages/invocations.txt"
    var entries: [Entry] = []

    init(text: String) {
        var heading = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("# ") {
                heading += line + "\n"
            } else if line.hasPrefix("$ ") {
                entries.append(Entry(heading: heading, command: String(line.dropFirst(2))))
                heading = ""
            } else if line.hasPrefix("= ") {
                entries[entries.count - 1].status = Int32(line.dropFirst(2)) ?? -1
            } else if !line.isEmpty {
                entries[entries.count - 1].lines.append(line)
            } else if !heading.isEmpty {
                heading += "\n"
            }
        }
    }

    var text: String { entries.map(\.text).joined() }
}
