import Foundation
import Support
import Synchronization
import Testing

extension Mounts {
    /// Complete messages for invalid and unusual command lines. To accept changes and review them: `PURGEFS_ACCEPT_MESSAGES=1
    /// swift test --filter MessageTests && git diff Tests/MountTests/Messages`.
    @Suite struct MessageTests {
        private static let workers = 4

        @Test func messagesAndStatuses() throws {
            var table = MessageTable(text: Files.text(MessageTable.path))
            let expected = table.entries
            #expect(expected.count >= 850)
            #expect(Set(expected.map(\.command)).count == expected.count, "a command stands there twice")
            let found = Mutex<[Int: MessageTable.Entry]>([:])
            try Workers.run(Self.workers) { worker in
                try UserShell.with("messages") { shell in
                    try Self.prepare(shell)
                    for index in stride(from: worker, to: expected.count, by: Self.workers) {
                        let entry = try Self.answer(expected[index], shell)
                        found.withLock { $0[index] = entry }
                    }
                }
            }
            for index in expected.indices {
                let entry = try #require(found.withLock { $0[index] })
                #expect(entry == expected[index], "\(entry.text)")
                table.entries[index] = entry
            }
            if ProcessInfo.processInfo.environment["PURGEFS_ACCEPT_MESSAGES"] != nil {
                try table.text.write(toFile: MessageTable.path, atomically: true, encoding: .utf8)
            }
        }

        /// Creates the mounted container `app`, the unmounted `other.store`, a damaged store, and other files to name as operands.
        private static func prepare(_ shell: UserShell) throws {
            let script = """
                mkdir app empty full && echo precious > letter && echo precious > full/letter && ln -s nowhere dangling
                purgefs mount --total 64M other.store app && purgefs unmount app
                cp -a other.store damaged.store && echo nonsense > damaged.store/device.json
                purgefs mount --total 64M --others 1M app.store app && echo hello > app/Documents/note
                purgefs backup create other.store --output saved > backup.log && printf '#!/bin/sh\n' > tool && chmod +x tool
                echo '<plist><array/></plist>' > ok.plist
                """
            try shell.run(["bash", "-e", "-c", script]).succeeded()
        }

        private static func answer(_ entry: MessageTable.Entry, _ shell: UserShell) throws -> MessageTable.Entry {
            let outcome = try shell.run(["bash", "-c", entry.command])
            var entry = entry
            entry.status = outcome.status
            let output = lines(outcome.output).map { "> \($0)" }
            entry.lines = (output + lines(outcome.errors)).map { plain($0, shell) }.filter { !$0.isEmpty }
            return entry
        }

        private static func lines(_ text: String) -> [String] {
            text.split(separator: "\n").map(String.init)
        }

        /// Masks the parts of a line that depend on the directory, the time or other mounts on this machine.
        private static func plain(_ line: String, _ shell: UserShell) -> String {
            line.replacingOccurrences(of: shell.directory, with: "/work")
                .replacingOccurrences(of: "Mounts now: .*", with: "Mounts now: ...", options: .regularExpression)
                .replacingOccurrences(of: "process [0-9]+", with: "process N", options: .regularExpression)
        }

        /// Every failure prints the problem and the next step. `check` reports on standard output.
        @Test func eachFailureSaysWhatToDoNext() {
            let table = MessageTable(text: Files.text(MessageTable.path))
            for entry in table.entries where [1, 64, 125, 126, 127].contains(entry.status) {
                let isAnswer = entry.command.hasPrefix("purgefs check")
                #expect(isAnswer || entry.lines.contains { $0.hasPrefix("purgefs: ") }, "\(entry.text)")
                #expect(entry.lines.count { !$0.hasPrefix("> ") || isAnswer } > 1, "\(entry.text)")
            }
        }
    }
}
