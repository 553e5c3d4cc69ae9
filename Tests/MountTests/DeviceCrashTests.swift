import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// kill -9 of the daemon during a reboot, or during an update or a deletion of the app: at random moments, once the store
    /// has the command's mark, and amid the removals. After the next mount, the command is done either completely or not at
    /// all.
    @Suite struct DeviceCrashTests {
        struct Command: CustomTestStringConvertible, Sendable {
            var file: String
            var word: String
            var testDescription: String { word }
        }
        private static let commands = [
            Command(file: "device.state", word: "reboot"), Command(file: "app.state", word: "update"),
            Command(file: "app.state", word: "delete"),
        ]
        private static let layout: Set = [
            "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "tmp",
        ]
        private static let files: Set = {
            let folders = ["tmp/d0", "tmp/d1", "tmp/d2", "Documents/d0", "Library/Caches/d0"]
            return Set(folders + folders.flatMap { folder in (0..<60).map { "\(folder)/\($0)" } })
        }()

        private func fill(_ mount: TestMount) throws {
            for path in Self.files.sorted() {
                if path.split(separator: "/").last?.first == "d" {
                    try mount.makeDirectory(path)
                } else {
                    try mount.make(path, size: 4096)
                }
            }
        }

        /// Returns the duration of the command in microseconds.
        private func time(_ command: Command) throws -> UInt32 {
            try withMount { mount in
                try fill(mount)
                let began = System.uptime()
                try mount.write(command.word, to: command.file)
                return UInt32((System.uptime() - began) / 1000)
            }
        }

        @Test(arguments: commands) func killedAtAnyMoment(command: Command) throws {
            let duration = try time(command)
            var generator = SeededGenerator(seed: 1)
            var outcomes: [String: Int] = [:]
            for round in 0..<Scale.of(20) {
                let delay = round % 2 == 0 ? nil : UInt32.random(in: 0...duration * 5 / 4, using: &generator)
                let moment = delay.map(Moment.after) ?? .onceMarked
                let outcome = try withMount(deadline: 120) { mount in
                    try kill(mount, amid: command, moment, "round \(round), \(moment) of \(duration) us")
                }
                outcomes[outcome, default: 0] += 1
            }
            print("\(command.word): \(outcomes.sorted { $0.key < $1.key }), \(duration) us")
        }

        @Test(arguments: commands) func killedAmidItsRemovals(command: Command) throws {
            for number in [1, 20, 50] {
                let outcome = try withMount(deadline: 120) { mount in
                    try kill(mount, amid: command, .atRemoval(number), "removal \(number)")
                }
                #expect(outcome == "unfinished", "removal \(number)")
            }
        }

        private enum Moment {
            /// Kills after a delay in microseconds.
            case after(UInt32)
            /// Kills once device.json has the mark of the command.
            case onceMarked
            /// Kills at the given unlinkat(2) in tmp/d0, under strace.
            case atRemoval(Int)
        }

        /// Starts a strace that kills the daemon at the given removal, and waits until it has attached to the daemon.
        private func killer(of mount: TestMount, at removal: Int) throws -> ChildProcess {
            let daemon = try #require(mount.daemon)
            let strace = try Program.start([
                "strace", "-f", "-p", "\(daemon.pid)", "-o", "\(mount.scratch)/trace",
                "-P", "\(mount.store)/container/tmp/d0", "-e", "trace=unlinkat", "-e",
                "inject=unlinkat:signal=KILL:when=\(removal)",
            ])
            try eventually("strace has the daemon") { strace.errors.contains("attached") }
            return strace
        }

        /// Kills the daemon during the command, mounts again, and returns the state in which the store was left.
        private func kill(
            _ mount: TestMount, amid command: Command, _ moment: Moment, _ label: String
        ) throws -> String {
            try fill(mount)
            let before = try mount.status()
            let settings = "\(mount.store)/device.json"
            let ended = Tally()
            var strace: ChildProcess?
            if case .atRemoval(let number) = moment { strace = try killer(of: mount, at: number) }
            let writer = Workers.start(1) { _ in
                // Fails if the daemon is killed before it answers.
                do throws(Errno) { try mount.write(command.word, to: command.file) } catch {}
                ended.add()
            }
            switch moment {
            case .after(let delay): usleep(delay)
            case .onceMarked: while ended.value == 0, !Files.text(settings).contains("\"unfinished\"") {}
            case .atRemoval: try strace?.wait(within: 60)
            }
            try mount.crash()
            try writer.join()
            let left = Files.text(settings)
            try mount.mount()
            let after = try mount.status()
            let isDone = try check(mount, command, before, after, label)
            try checkLedger(mount, label)
            if left.contains("\"unfinished\"") {
                #expect(isDone, "\(label): the next mount finishes it")
                return "unfinished"
            }
            return isDone ? "done" : "not begun"
        }

        private func check(
            _ mount: TestMount, _ command: Command, _ before: MountStatus, _ after: MountStatus, _ label: String
        ) throws -> Bool {
            let tree = Set(try Files.tree(mount.root))
            let isDone =
                command.word == "reboot"
                ? after.device.boots == before.device.boots + 1 : after.app.container != before.app.container
            let gone = Self.files.filter { command.word == "delete" || $0.hasPrefix("tmp/") }
            let expected = Self.layout.union(isDone ? Self.files.subtracting(gone) : Self.files)
            #expect(
                tree == expected, "\(label): done \(isDone), \(tree.symmetricDifference(expected).sorted().prefix(5))")
            let state = isDone && command.word == "reboot" ? "beforeFirstUnlock" : "unlocked"
            #expect(after.device.state == state, "\(label)")
            if !isDone { #expect(after.device == before.device && after.app == before.app, "\(label)") }
            return isDone
        }

        private func checkLedger(_ mount: TestMount, _ label: String) throws {
            let used = try mount.number("storage.used")
            #expect(try Files.chargedTree(mount.root) == used, "\(label)")
            try mount.unmount()
            #expect(!Files.text("\(mount.store)/device.json").contains("\"unfinished\""), "\(label)")
            try PurgefsBinary.run("check", mount.store).succeeded()
            try mount.mount()
            #expect(try mount.number("storage.used") == used, "\(label)")
        }
    }
}
