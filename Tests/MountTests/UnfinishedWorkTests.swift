import Foundation
import Support
import Testing

extension Mounts {
    /// A store whose daemon was killed while the app was deleted.
    @Suite struct UnfinishedWorkTests {
        private func interrupt(_ store: String) throws {
            let settings = "\(store)/device.json"
            let marked = Files.text(settings).replacingOccurrences(
                of: "\"version\": 1,", with: "\"version\": 1, \"unfinished\": \"delete\",")
            try Files.write(marked, to: settings)
            try Files.write("", to: "\(store)/device.json.removing")
        }

        /// Only a writable mount and `check --repair` finish the work.
        @Test func isToldAndNotFinishedByReading() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 4096)
                try mount.unmount()
                try interrupt(mount.store)
                let status = try PurgefsBinary.run("status", mount.store)
                #expect(
                    status.output.contains("nowhere; the next mount finishes the deletion of the app\n"), "\(status)")
                let json = try PurgefsBinary.run("status", "--json", mount.store)
                #expect(json.output.contains("\"unfinished\": \"delete\""), "\(json)")
                let check = try PurgefsBinary.run("check", mount.store)
                #expect(check.output.contains("the deletion of the app was interrupted\n  The next mount"), "\(check)")
                #expect(check.status == 0)
                mount.expectWarnings()
                try mount.mount(["-o", "ro"])
                #expect(mount.log.contains("the deletion of the app was interrupted"))
                #expect(mount.exists("Documents/a"))
                try mount.unmount()
                #expect(Files.exists("\(mount.store)/container/Documents/a"))
                let repair = try PurgefsBinary.run("check", "--repair", mount.store)
                #expect(repair.output.contains("It is finished now."), "\(repair)")
                #expect(!Files.exists("\(mount.store)/container/Documents/a"))
                let again = try PurgefsBinary.run("check", mount.store)
                #expect(again.status == 0 && !again.output.contains("interrupted"), "\(again)")
            }
        }

        /// A failed mount still finishes the interrupted work and records that, but saves none of its own settings.
        @Test func aMountThatFailsSetsNothing() throws {
            try withMount(["--total", "2G"]) { mount in
                try mount.make("Documents/a", size: 4096)
                try mount.unmount()
                try interrupt(mount.store)
                let failed = try PurgefsBinary.run(
                    "mount", "--total", "1G", "-o", "ro=1", mount.store, mount.root)
                #expect(failed.status == 1, "\(failed)")
                let settings = Files.text("\(mount.store)/device.json")
                #expect(settings.contains("\"total\": 2147483648,"), "\(settings)")
                #expect(!settings.contains("unfinished"), "\(settings)")
                #expect(!Files.exists("\(mount.store)/container/Documents/a"))
                try mount.mount()
                #expect(try mount.number("storage.total") == 2 << 30)
                #expect(try PurgefsBinary.run("events", "--type", "app", mount.store).output.contains("delete"))
            }
        }
    }
}
