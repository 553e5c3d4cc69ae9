import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// `status --watch`: in place on a terminal, one after the other elsewhere, until the unmount or a signal.
    @Suite struct WatchTests {
        /// A terminal of tmux, of a server of its own, in which a shell runs one command.
        private struct Terminal {
            let socket: String
            let statusFile: String
            let rawFile: String

            init(_ command: String, in scratch: String) throws {
                (socket, statusFile, rawFile) = ("\(scratch)/tmux", "\(scratch)/status", "\(scratch)/raw")
                // The trap keeps the shell, not the command, from ending by Ctrl-C.
                let script = "trap : INT; \(command); echo $? > \(statusFile); sleep 1000"
                try tmux("new-session", "-d", "-x", "80", "-y", "24", script)
                try tmux("pipe-pane", "cat > \(rawFile)")
            }

            @discardableResult func tmux(_ words: String...) throws -> String {
                try Program.run(["env", "LC_ALL=C", "tmux", "-S", socket, "-f", "/dev/null"] + words).succeeded()
            }
            /// The visible lines, without empty ones at the end.
            func screen() throws -> [String] {
                var lines = try tmux("capture-pane", "-p").split(separator: "\n", omittingEmptySubsequences: false)
                while lines.last == "" { lines.removeLast() }
                return lines.map(String.init)
            }
            /// How many lines have been scrolled off the top.
            func scrolled() throws -> String {
                try tmux("display-message", "-p", "#{history_size}").trimmingCharacters(in: .newlines)
            }
            func awaitStatus() throws -> String {
                try eventually("the end of the command") { !Files.text(statusFile).isEmpty }
                return Files.text(statusFile).trimmingCharacters(in: .newlines)
            }
            func end() { _ = try? tmux("kill-server") }
        }

        private func inTerminal(_ mount: TestMount, _ body: (Terminal) throws -> Void) throws {
            let terminal = try Terminal("\(PurgefsBinary.path) status \(mount.root) --watch", in: mount.scratch)
            defer { terminal.end() }
            try eventually("the first status") { try terminal.screen().contains { $0.hasPrefix("refused") } }
            try body(terminal)
        }

        private func line(_ name: String, _ screen: [String]) -> String { screen.first { $0.hasPrefix(name) } ?? "" }

        @Test func redrawsInPlace() throws {
            try withMount(["--total", "64M", "--others", "8M", "--others-purgeable", "2M"]) { mount in
                try inTerminal(mount) { terminal in
                    let first = try terminal.screen()
                    #expect(first.first?.hasPrefix("container") == true && first.last?.hasPrefix("refused") == true)
                    #expect(first.count == 23)
                    try mount.write("30M", to: "storage.others")
                    try eventually("the new number") { line("others", try terminal.screen()).contains("30.0 MiB") }
                    let later = try terminal.screen()
                    #expect(later.count == first.count)
                    #expect(zip(later, first).count { $0 != $1 } <= 5, "\(later)")
                    #expect(try terminal.scrolled() == "0")
                    // Nothing is erased before it is drawn again.
                    #expect(!Files.text(terminal.rawFile).contains("\u{1B}[2J"))
                    try mount.unmount()
                    #expect(try terminal.awaitStatus() == "0")
                    #expect(line("others", try terminal.screen()).contains("30.0 MiB"), "the last status stays")
                }
            }
        }

        @Test func fitsASmallerTerminal() throws {
            try withMount { mount in
                try inTerminal(mount) { terminal in
                    let first = try terminal.screen()
                    try terminal.tmux("resize-window", "-x", "40", "-y", "13")
                    try eventually("a smaller status") {
                        let screen = try terminal.screen()
                        return screen == first.prefix(13).map { cut($0, 40) }
                    }
                    // What the status bar of tmux leaves of 24 lines.
                    try terminal.tmux("resize-window", "-x", "80", "-y", "23")
                    try eventually("the whole status") { try terminal.screen() == first }
                }
            }
        }
        private func cut(_ line: String, _ columns: Int) -> String {
            var line = line.prefix(columns)
            while line.last == " " { line.removeLast() }
            return String(line)
        }

        @Test func controlCEndsIt() throws {
            try withMount { mount in
                try inTerminal(mount) { terminal in
                    try terminal.tmux("send-keys", "C-c")
                    #expect(try terminal.awaitStatus() == "130")
                }
            }
        }

        /// The last message is below what was drawn.
        @Test func theDaemonDies() throws {
            try withMount { mount in
                try inTerminal(mount) { terminal in
                    let drawn = try terminal.screen()
                    try mount.kill()
                    #expect(try terminal.awaitStatus() == "1")
                    let screen = try terminal.screen()
                    #expect(line("refused", screen) == line("refused", drawn), "\(screen)")
                    #expect(screen.contains { $0.hasPrefix("purgefs: ") }, "\(screen)")
                }
                try PurgefsBinary.run("unmount", mount.root).succeeded()
            }
        }

        /// From inside the mount, which it does not keep busy.
        @Test(arguments: [[], ["--json"]]) func isPlainElsewhere(options: [String]) throws {
            try withMount { mount in
                let watch = try Program.start(
                    [PurgefsBinary.path, "status", "--watch"] + options, in: mount.path("Documents"),
                    environment: ["PURGEFS_MOUNT": ""])
                try eventually("two of them") { watch.output.components(separatedBy: mount.store).count > 2 }
                try PurgefsBinary.run("unmount", mount.root).succeeded()
                #expect(try watch.wait(within: 20) == 0)
                #expect(!watch.output.contains("\u{1B}"))
                #expect(watch.errors == "purgefs: status: \(mount.root): it has been unmounted\n")
                if options == ["--json"] {
                    for line in watch.output.split(separator: "\n") {
                        let status = try JSONDecoder().decode(MountStatus.self, from: Data(line.utf8))
                        #expect(status.storage.total == 64 << 20)
                    }
                }
                try mount.awaitEnd()
            }
        }

        /// Even if the daemon does not answer.
        @Test(arguments: [SIGINT, SIGTERM]) func signalsEndIt(signal: Int32) throws {
            try withMount { mount in
                let watch = try Program.start([PurgefsBinary.path, "status", mount.root, "--watch"])
                try eventually("one of them") { watch.output.contains(mount.store) }
                mount.daemon?.signal(SIGSTOP)
                defer { mount.daemon?.signal(SIGCONT) }
                try eventually("a call that waits") { Self.isWaitingForFUSE(watch.pid) }
                watch.signal(signal)
                #expect(try watch.wait(within: 10) == 128 + signal)
            }
        }
        /// It sleeps, but not until the next second: in that wait SIGINT is blocked.
        private static func isWaitingForFUSE(_ pid: pid_t) -> Bool {
            let lines = Files.text("/proc/\(pid)/status").split(separator: "\n")
            func value(_ name: String) -> String {
                String(lines.first { $0.hasPrefix(name + ":") }?.dropFirst(name.count + 1) ?? "")
                    .trimmingCharacters(in: .whitespaces)
            }
            guard let blocked = UInt64(value("SigBlk"), radix: 16) else { return false }
            return !value("State").hasPrefix("R") && blocked & (1 << UInt64(SIGINT - 1)) == 0
        }

        /// A store is shown before it is mounted, too.
        @Test func followsAStoreIntoItsMount() throws {
            try withMount { mount in
                try mount.unmount()
                let watch = try Program.start([PurgefsBinary.path, "status", mount.store, "--watch"])
                try eventually("it, not mounted") { watch.output.contains("mounted at        nowhere") }
                try mount.mount()
                try eventually("it, mounted") { watch.output.contains("mounted at        \(mount.root)") }
                try mount.unmount()
                #expect(try watch.wait(within: 20) == 0)
            }
        }
    }
}
