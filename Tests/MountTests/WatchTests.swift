import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// `status --watch`, which draws in place on a terminal and prints one status after the other elsewhere, until the
    /// unmount or a signal.
    @Suite struct WatchTests {
        /// A terminal in its own tmux server, in which a shell runs one command.
        private struct Terminal {
            let socket: String
            let statusFile: String
            let rawFile: String

            init(_ command: String, in scratch: String) throws {
                (socket, statusFile, rawFile) = ("\(scratch)/tmux", "\(scratch)/status", "\(scratch)/raw")
                // The trap keeps Ctrl-C from ending the shell too.
                let script = "trap : INT; \(command); echo $? > \(statusFile); sleep 1000"
                try tmux("new-session", "-d", "-x", "80", "-y", "24", script)
                try tmux("pipe-pane", "cat > \(rawFile)")
            }

            @discardableResult func tmux(_ words: String...) throws -> String {
                try Program.run(["env", "LC_ALL=C", "tmux", "-S", socket, "-f", "/dev/null"] + words).succeeded()
            }
            /// Returns the visible lines without empty ones at the end.
            func screen() throws -> [String] {
                var lines = try tmux("capture-pane", "-p").split(separator: "\n", omittingEmptySubsequences: false)
                while lines.last == "" { lines.removeLast() }
                return lines.map(String.init)
            }
            /// Returns how many lines have scrolled off the top.
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
            let watch = "\(PurgefsBinary.path) status \(mount.root) --watch"
            let script = "echo before; sh -c 'echo $$ > \(mount.scratch)/pid; exec \(watch)'"
            let terminal = try Terminal(script, in: mount.scratch)
            defer { terminal.end() }
            try eventually("the first status") { line("free ", try terminal.screen()) != "" }
            try body(terminal)
        }

        /// Returns the first line that contains `text`.
        private func line(_ text: String, _ screen: [String]) -> String { screen.first { $0.contains(text) } ?? "" }

        @Test func redrawsInPlace() throws {
            try withMount(["--total", "64M", "--others", "8M", "--others-purgeable", "2M"]) { mount in
                try inTerminal(mount) { terminal in
                    let first = try terminal.screen()
                    #expect(first.first == "mounted at  \(mount.root)")
                    #expect(line("o others ", first).hasPrefix("o others              6.0 MiB"))
                    #expect(first.count <= 23)
                    try mount.write("30M", to: "storage.others")
                    try eventually("the new number") { line("o others", try terminal.screen()).contains("28.0 MiB") }
                    try eventually("the event") {
                        line("capacity", try terminal.screen()).contains("storage.others=30M")
                    }
                    #expect(try terminal.scrolled() == "0")
                    // No redraw erases the screen first.
                    #expect(!Files.text(terminal.rawFile).contains("\u{1B}[2J"))
                    try mount.unmount()
                    #expect(try terminal.awaitStatus() == "0")
                    let screen = try terminal.screen()
                    #expect(line("o others", screen).contains("28.0 MiB"), "the last status stays")
                    let message = "purgefs: status: \(mount.root): it has been unmounted"
                    #expect(screen.joined().hasSuffix(message), "\(screen)")
                }
            }
        }

        @Test func fitsASmallerTerminal() throws {
            try withMount { mount in
                try inTerminal(mount) { terminal in
                    try eventually("the event") { try terminal.screen().last?.hasSuffix("mount") ?? false }
                    // The line of the free space grows each second.
                    func lasting() throws -> [String] {
                        try terminal.screen().filter { !$0.hasPrefix("free lately") }
                    }
                    let first = try lasting()
                    try terminal.tmux("resize-window", "-x", "40", "-y", "10")
                    try eventually("a smaller status") {
                        let screen = try terminal.screen()
                        return screen.count == 9 && screen[0].contains("B free, normal")
                            && screen[3].hasPrefix("o others")
                            && screen[8].hasSuffix("mount") && screen.allSatisfy { $0.count <= 40 }
                    }
                    // The status bar of tmux takes one of 24 lines.
                    try terminal.tmux("resize-window", "-x", "80", "-y", "23")
                    try eventually("the whole status") { try lasting() == first }
                }
            }
        }

        /// The terminal shows its earlier content again, and nothing else.
        @Test(arguments: [SIGINT, SIGTERM]) func leavesTheTerminalAsItWas(signal: Int32) throws {
            try withMount { mount in
                try inTerminal(mount) { terminal in
                    func state() throws -> String {
                        try terminal.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{wrap_flag}")
                    }
                    #expect(try state() == "1 0 1\n")
                    if signal == SIGINT {
                        try terminal.tmux("send-keys", "C-c")
                    } else {
                        let pid = Files.text("\(mount.scratch)/pid").trimmingCharacters(in: .newlines)
                        kill(try #require(pid_t(pid)), signal)
                    }
                    #expect(try terminal.awaitStatus() == "\(128 + signal)")
                    #expect(try state() == "0 1 1\n")
                    let screen = try terminal.screen()
                    #expect(screen.first == "before" && line("others", screen) == "", "\(screen)")
                }
            }
        }

        /// Ctrl-C works while a thread waits for a daemon that does not answer.
        @Test func controlCEndsItWhileTheDaemonIsStopped() throws {
            try withMount(by: .device) { mount in
                try inTerminal(mount) { terminal in
                    mount.daemon?.signal(SIGSTOP)
                    defer { mount.daemon?.signal(SIGCONT) }
                    let pid = try #require(
                        pid_t(Files.text("\(mount.scratch)/pid").trimmingCharacters(in: .newlines)))
                    try eventually("a thread that waits for the daemon") {
                        try Files.names(in: "/proc/\(pid)/task").contains { thread in
                            Files.text("/proc/\(pid)/task/\(thread)/syscall").hasPrefix("257 ")  // openat
                        }
                    }
                    try terminal.tmux("send-keys", "C-c")
                    #expect(try terminal.awaitStatus() == "130")
                    #expect(try terminal.screen().first == "before")
                }
            }
        }

        /// Ctrl-Z and fg work in a shell with job control.
        @Test func canBeStopped() throws {
            try withMount { mount in
                let terminal = try Terminal("bash --norc --noprofile -i", in: mount.scratch)
                defer { terminal.end() }
                try terminal.tmux("send-keys", "\(PurgefsBinary.path) status \(mount.root) --watch", "Enter")
                try eventually("the first status") { line("free of", try terminal.screen()) != "" }
                try terminal.tmux("send-keys", "C-z")
                try eventually("the shell") { line("Stopped", try terminal.screen()) != "" }
                #expect(line("free of", try terminal.screen()) == "")
                try terminal.tmux("send-keys", "fg", "Enter")
                try eventually("the status again") { line("free of", try terminal.screen()) != "" }
                try terminal.tmux("send-keys", "C-c")
                try eventually("the shell again") { line("Stopped", try terminal.screen()) != "" }
            }
        }

        /// When the daemon dies, the drawing stays on the screen, and a last message appears.
        @Test func theDaemonDies() throws {
            try withMount { mount in
                try inTerminal(mount) { terminal in
                    let drawn = try terminal.screen()
                    try mount.kill()
                    #expect(try terminal.awaitStatus() == "1")
                    let screen = try terminal.screen()
                    #expect(line("o others", screen) == line("o others", drawn), "\(screen)")
                    #expect(screen.contains { $0.hasPrefix("purgefs: ") }, "\(screen)")
                }
                try PurgefsBinary.run("unmount", mount.root).succeeded()
            }
        }

        /// A terminal that cannot draw gets one status after the other.
        @Test func isPlainOnADumbTerminal() throws {
            try withMount { mount in
                let watch = "TERM=dumb \(PurgefsBinary.path) status \(mount.root) --watch"
                let terminal = try Terminal(watch, in: mount.scratch)
                defer { terminal.end() }
                try eventually("two of them") {
                    Files.text(terminal.rawFile).components(separatedBy: "opportunistic").count > 2
                }
                #expect(!Files.text(terminal.rawFile).contains("\u{1B}"))
                try terminal.tmux("send-keys", "C-c")
                #expect(try terminal.awaitStatus() == "130")
            }
        }

        /// A watch from inside the mount does not keep it busy.
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

        /// Signals end the watch even if the daemon does not answer.
        @Test(arguments: [SIGINT, SIGTERM]) func signalsEndIt(signal: Int32) throws {
            try withMount(by: .device) { mount in
                let watch = try Program.start([PurgefsBinary.path, "status", mount.root, "--watch"])
                try eventually("one of them") { watch.output.contains(mount.store) }
                mount.daemon?.signal(SIGSTOP)
                defer { mount.daemon?.signal(SIGCONT) }
                try eventually("a call that waits") { Self.isWaitingForFUSE(watch.pid) }
                watch.signal(signal)
                #expect(try watch.wait(within: 10) == 128 + signal)
            }
        }
        /// Returns whether the process waits for a call to the mount. While it waits for the next second, it blocks SIGINT.
        private static func isWaitingForFUSE(_ pid: pid_t) -> Bool {
            let lines = Files.text("/proc/\(pid)/status").split(separator: "\n")
            func value(_ name: String) -> String {
                String(lines.first { $0.hasPrefix(name + ":") }?.dropFirst(name.count + 1) ?? "")
                    .trimmingCharacters(in: .whitespaces)
            }
            guard let blocked = UInt64(value("SigBlk"), radix: 16) else { return false }
            return !value("State").hasPrefix("R") && blocked & (1 << UInt64(SIGINT - 1)) == 0
        }

        /// A watch of a store shows the store before and during its mount, and ends with the mount.
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
