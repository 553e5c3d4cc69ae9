import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// kill -9 of the daemon while programs write loses nothing acknowledged, and the ledger equals a fresh scan.
    @Suite struct CrashTests {
        @Test func killedAmidEightWriters() throws {
            try withMount(["--total", "512M"], deadline: 300) { mount in
                for round in 0..<Scale.of(20) {
                    let writers = (0..<8).map { CrashWriter(worker: $0, round: round, mount: mount) }
                    let wrote = Tally()
                    let group = Workers.start(8) { try writers[$0].writeUntilItFails(progress: wrote) }
                    try eventually("writers at work in round \(round)") { wrote.value > 300 + 137 * round }
                    try mount.crash()
                    try group.join()
                    try mount.mount()
                    for writer in writers { try writer.check() }
                    try checkLedger(mount, round)
                    try Program.shell("rm -rf Documents/* Library/Caches/*", in: mount.root).succeeded()
                }
            }
        }

        private func checkLedger(_ mount: TestMount, _ round: Int) throws {
            try mount.settle()
            let used = try mount.number("storage.used")
            #expect(try Files.chargedTree(mount.root) == used, "round \(round)")
            let storage = try mount.status().storage
            #expect(storage.total - storage.others - storage.available == used, "round \(round)")
            guard round % 5 == 4 else { return }
            try mount.unmount()
            try PurgefsBinary.run("check", mount.store).succeeded()
            try mount.mount()
            #expect(try mount.number("storage.used") == used, "round \(round), after a check and a remount")
        }

        /// Settings and the container's identity survive a crash.
        @Test func settingsSurvive() throws {
            try withMount { mount in
                try mount.write("5M", to: "storage.others")
                try mount.write("2M", to: "storage.others.purgeable")
                try mount.write("48M", to: "storage.total")
                try mount.make("Documents/marked", size: 4096)
                try mount.mark("Documents/marked", "high")
                let before = try mount.status()
                try mount.crash()
                try mount.mount()
                let after = try mount.status()
                #expect(after.storage == before.storage && after.app.container == before.app.container)
                #expect(try Attributes.text(mount.path("Documents/marked"), "user.purgefs.isPurgeable") == "high")
            }
        }

        /// A mount must not restore unlinked files, since no name or descriptor refers to them.
        @Test func unlinkedFilesAreGivenBack() throws {
            try withMount { mount in
                let file = try OpenFile(mount.path("Documents/unlinked"))
                try file.fill(1 << 20)
                try Files.unlink(mount.path("Documents/unlinked"))
                #expect(try mount.number("storage.used") == 1 << 20)
                file.close()
                let second = try OpenFile(mount.path("Documents/second"))
                try second.fill(1 << 20)
                try Files.unlink(mount.path("Documents/second"))
                try mount.crash()
                second.close()
                try mount.mount()
                #expect(try mount.number("storage.used") == 0)
                #expect(try Files.tree("\(mount.store)/container").filter { $0.contains("second") } == [])
            }
        }
    }
}
