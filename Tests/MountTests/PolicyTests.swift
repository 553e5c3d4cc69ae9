import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Policies of directories on a mount, and the golden scenarios of purging as a program and a user see them.
    @Suite struct PolicyTests {
        @Test(arguments: PurgeScenario.documented.filter(\.isForMounts)) func takes(scenario: PurgeScenario) throws {
            try withMount { mount in
                try ScenarioRun(scenario, mount).check()
            }
        }

        /// A feed writes files of 1 MiB into a cache limited to 10 MiB while four threads write to Documents. The policy purges
        /// the oldest files of the feed, and no others.
        @Test func aFeedBesideFourWriters() throws {
            try withMount(["--total", "256M"]) { mount in
                try PurgefsBinary.run("policy", "add", mount.path("Library/Caches/feed"), "--limit", "10M").succeeded()
                try Workers.run(5) { worker in
                    for number in 0..<30 {
                        let path = worker == 0 ? "Library/Caches/feed/\(number)" : "Documents/\(worker)-\(number % 4)"
                        try mount.make(path, size: worker == 0 ? 1 << 20 : 64 << 10)
                    }
                }
                // Waits until the purges of the policy are over.
                try mount.write("check", to: "storage.policies")
                let left = try Files.names(in: mount.path("Library/Caches/feed")).compactMap { Int($0) }.sorted()
                #expect((1..<10).contains(left.count) && left == Array(30 - left.count..<30))
                // The next mount finds the same files and bytes for the policy.
                let known = try mount.read("storage.policies")
                try mount.remount(["--total", "256M"])
                #expect(try mount.read("storage.policies") == known)
                let purges = try mount.purgesAfterUnmount()
                #expect(purges.map(\.path) == (0..<purges.count).map { "Library/Caches/feed/\($0)" })
                #expect(
                    purges.allSatisfy { $0.reason == "policySize" && $0.trigger == "policy" && $0.bytes == 1 << 20 })
            }
        }

        /// A daemon is killed while a policy purges files. The next launch purges the rest.
        @Test func theNextLaunchGoesOnAfterAKill() throws {
            try withMount { mount in
                try mount.makeDirectory("Documents/d")
                for number in 0..<300 { try mount.make("Documents/d/\(number)", size: 4096) }
                try Attributes.mark(mount.path("Documents/d"), "purgeAfter", "1d")
                try mount.write("+1d", to: "device.clock")
                try mount.write("launch", to: "app.state")
                try eventually("a purge") { try Files.names(in: "\(mount.store)/container/Documents/d").count < 300 }
                try mount.crash()
                try mount.mount()
                try mount.write("launch", to: "app.state")
                try mount.write("check", to: "storage.policies")
                #expect(try Files.names(in: mount.path("Documents/d")).isEmpty)
                #expect(try mount.status().storage.used == 0)
            }
        }

        /// `run` starts COMMAND while the policies of its launch are carried out, and `policy check` waits for them. strace delays
        /// the first removal.
        @Test func aRunDoesNotWaitForItsLaunch() throws {
            try Scratch.with("launch") { scratch in
                let store = "\(scratch.path)/store"
                let feed = "\(store)/container/Documents/feed"
                func run(_ script: String, under tracer: [String] = []) throws -> String {
                    let words = ["run", "--quiet", "--store", store, "--", "sh", "-ec", script]
                    return try Program.run(
                        tracer + [PurgefsBinary.path] + words, environment: ["P": PurgefsBinary.path, "FEED": feed],
                        timeout: 120
                    ).succeeded()
                }
                _ = try run(
                    """
                    $P policy add ~/Documents/feed --after 1d >&2
                    for i in 1 2 3; do echo $i > ~/Documents/feed/$i; done
                    """)
                try PurgefsBinary.run("clock", "advance", "1d", store).succeeded()
                let tracer = [
                    "strace", "-f", "-o", "/dev/null", "-P", feed, "-e", "trace=unlinkat", "-e",
                    "inject=unlinkat:delay_enter=3000000:when=1",
                ]
                #expect(try run("ls $FEED; $P policy check; ls $FEED", under: tracer) == "1\n2\n3\n")
            }
        }

        /// A program can set attributes on a removed directory that it has open. They do not make a policy.
        @Test func aRemovedDirectoryHasNone() throws {
            try withMount { mount in
                try mount.makeDirectory("Documents/d")
                let directory = try FileDescriptor.open(mount.path("Documents/d"), O_RDONLY | O_DIRECTORY)
                try Attributes.mark(mount.path("Documents/d"), "purgeAfter", "1d")
                try Files.removeDirectory(mount.path("Documents/d"))
                _ = try? System.setAttribute(at: directory.raw, nil, "user.purgefs.sizeLimit", Array("4096".utf8))
                #expect(try mount.read("storage.policies") == "")
                try mount.write("reset", to: "storage.policies")
            }
        }

        @Test func theVerbInAMountAndInAStore() throws {
            try withMount { mount in
                let feed = mount.path("Documents/news/feed")
                try PurgefsBinary.run("policy", "add", feed, "--after", "oneWeek", "--limit", "10M").succeeded()
                #expect(try Attributes.text(feed, "user.purgefs.purgeAfter") == "1w")
                #expect(try Attributes.text(feed, "user.purgefs.sizeLimit") == "10485760")
                try mount.make("Documents/news/feed/f", size: 4096)
                let line =
                    #"{"path":"Documents/news/feed","purgeAfter":"1w","sizeLimit":10485760,"used":4096,"files":1}"#
                #expect(try PurgefsBinary.run("policy", "list", mount.root, "--json").succeeded() == line + "\n")
                try PurgefsBinary.run("policy", "reset", mount.root).succeeded()
                #expect(!mount.exists("Documents/news/feed/f") && mount.exists("Documents/news/feed"))
                try mount.unmount()
                let container = "\(mount.store)/container"
                try PurgefsBinary.run("policy", "add", "\(container)/Library/Caches/web").succeeded()
                try PurgefsBinary.run("policy", "remove", "\(container)/Documents/news/feed").succeeded()
                let left = #"{"path":"Library/Caches/web","purgeAfter":"0","used":0,"files":0}"#
                #expect(try PurgefsBinary.run("policy", "list", mount.store, "--json").succeeded() == left + "\n")
                let reasons = try StoreEvent.journal(of: mount.store).filter { $0.type == "policy" }.map(\.reason)
                #expect(
                    reasons == [
                        "purgeAfter=1w", "sizeLimit=10485760", "reset", "purgeAfter=0", "purgeAfter=removed",
                        "sizeLimit=removed",
                    ])
            }
        }

        /// Removing a policy leaves the attributes that `mark` sets on a folder.
        @Test func removingAPolicyLeavesMarks() throws {
            try withMount { mount in
                let feed = mount.path("Documents/feed")
                try mount.makeDirectory("Documents/feed")
                try PurgefsBinary.run("mark", "--group", "--tombstone", feed).succeeded()
                let refused = try PurgefsBinary.run("policy", "remove", feed)
                #expect(refused.status == 1 && refused.errors.contains("it has no policy"))
                try PurgefsBinary.run("policy", "add", feed, "--after", "1d").succeeded()
                try PurgefsBinary.run("policy", "remove", feed).succeeded()
                #expect(try Attributes.text(feed, "user.purgefs.purgeGroup") == "1")
                #expect(try Attributes.text(feed, "user.purgefs.purgeTombstone") == "1")
            }
        }
    }
}
