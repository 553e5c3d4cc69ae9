import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The life cycle of the app: launch, terminate, update, delete.
    @Suite struct AppTests {
        private static let layout: Set = [
            "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "tmp",
        ]

        private func tree(_ mount: TestMount) throws -> Set<String> { Set(try Files.tree(mount.root)) }

        @Test func launchAndTerminate() throws {
            try withMount { mount in
                #expect(try mount.read("app.state") == "terminated" && !mount.status().app.running)
                try mount.write("launch", to: "app.state")
                #expect(try mount.read("app.state") == "foreground" && mount.status().app.running)
                try mount.write("terminate", to: "app.state")
                #expect(try mount.read("app.state") == "terminated")
                try mount.write("launch\n", to: "app.state")
                for ending in [mount.unmount, mount.crash] {
                    try ending()
                    try mount.mount()
                    #expect(try !mount.status().app.running)
                }
            }
        }

        @Test func aRebootTerminatesIt() throws {
            try withMount { mount in
                let reader = try EventReader(mount)
                defer { reader.close() }
                try mount.write("launch", to: "app.state")
                try mount.write("reboot", to: "device.state")
                #expect(try mount.read("app.state") == "terminated")
                try reader.wait("the reboot") { $0.count >= 3 }
                #expect(reader.seen.map(\.reason) == ["launch", "terminate", "beforeFirstUnlock"])
                #expect(reader.seen.map(\.trigger) == [nil, "reboot", "reboot"])
            }
        }

        @Test func anUpdate() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 4096)
                try mount.make("Library/Caches/b", size: 4096)
                try mount.make("Library/Preferences/c", size: 4096)
                try mount.make("tmp/d", size: 8192)
                try mount.mark("Documents/a", "high")
                let open = try OpenFile(mount.path("tmp/d"), O_RDONLY)
                let reader = try EventReader(mount)
                let before = try tree(mount)
                let id = try mount.status().app.container
                try mount.write("launch", to: "app.state")
                try mount.write("update", to: "app.state")
                let status = try mount.status()
                #expect(status.app.container != id && UUID(uuidString: status.app.container) != nil)
                #expect(!status.app.running && status.storage.used == 5 * 4096)
                #expect(try tree(mount) == before.subtracting(["tmp/d"]))
                open.close()
                #expect(try mount.number("storage.used") == 3 * 4096)
                try reader.wait("the update") { $0.last?.type == "app" && $0.count >= 3 }
                #expect(reader.seen.map(\.reason) == ["launch", "temporary", "update"])
                #expect(reader.seen[1].trigger == "command" && reader.seen[1].path == "tmp/d")
                reader.close()
                try mount.remount()
                #expect(try mount.status().app.container == status.app.container)
            }
        }

        /// Deleting the app removes open files, working directories of programs, and attributes.
        @Test func aRemovalTakesEverything() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 4096)
                try mount.makeDirectory("Library/Caches/deep")
                try mount.make("Library/Caches/deep/b", size: 8192)
                try mount.make("loose", size: 4096)
                try Files.symlink("a", mount.path("Documents/link"))
                try Attributes.set(mount.root, "user.purgefs.isPurgeable", "high")
                try Attributes.set(mount.root, "user.own", "x")
                try Files.changeMode(mount.root, 0o700)
                let file = try OpenFile(mount.path("Library/Caches/deep/b"), O_RDWR)
                let program = try Program.start(["sleep", "1000"], in: mount.path("Library/Caches/deep"))
                let watch = try DirectoryWatch(mount.root)
                let id = try mount.status().app.container
                try mount.write("delete", to: "app.state")
                #expect(try tree(mount) == [])
                #expect(try Files.tree("\(mount.store)/container") == [])
                watch.collect()
                #expect(Set(watch.deleted) == ["Documents", "Library", "tmp", "loose"])
                #expect(try Files.status(mount.root).st_mode & 0o7777 == 0o755)
                #expect(try Attributes.names(mount.root) == [])
                let status = try mount.status()
                #expect(status.app.container != id && !status.app.running && status.storage.used == 8192)
                file.close()
                #expect(try mount.number("storage.used") == 0)
                program.signal(SIGKILL)
                try program.wait(within: 10)
            }
        }

        /// After a deletion, a launch creates an empty container. The journal keeps the earlier events.
        @Test func afterARemoval() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 4096)
                try mount.write("launch", to: "app.state")
                try mount.write("delete", to: "app.state")
                try mount.write("launch", to: "app.state")
                #expect(try tree(mount) == Self.layout)
                try mount.make("tmp/new", size: 4096)
                try mount.make("Documents/new", size: 4096)
                let status = try mount.status()
                #expect(status.tiers.temporary.bytes == 4096 && status.tiers.persistent.bytes == 4096)
                #expect(status.counters.purgedFiles == 0)
                let told = try mount.afterUnmount {
                    try PurgefsBinary.run("check", mount.store).succeeded()
                    return try StoreEvent.journal(of: mount.store).filter { $0.type == "app" || $0.type == "purge" }
                }
                #expect(told.map(\.reason) == ["launch", "delete", "launch"] && told[1].bytes == 4096)
                #expect(try mount.number("storage.used") == 8192)
            }
        }

        @Test func theNextMountMakesTheLayoutToo() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 4096)
                try mount.write("delete", to: "app.state")
                try mount.remount()
                #expect(try tree(mount) == Self.layout)
                #expect(try mount.number("storage.used") == 0)
            }
        }

        /// The kernel has cached that the folders do not exist. After a launch it finds them.
        @Test func aLaunchMakesFoldersThatTheKernelMisses() throws {
            try withMount { mount in
                for folder in ["tmp", "Library/Caches"] { try Files.removeDirectory(mount.path(folder)) }
                for _ in 0..<2 {
                    #expect(!mount.exists("tmp") && !mount.exists("Library/Caches"))
                    #expect(try Files.names(in: mount.path("Library")).count == 2)
                }
                try mount.write("launch", to: "app.state")
                #expect(try tree(mount) == Self.layout)
                #expect(mount.exists("tmp") && mount.exists("Library/Caches"))
                #expect(try Files.status(mount.path("tmp")).st_mode & 0o7777 == 0o755)
                try mount.make("tmp/a", size: 1)
                #expect(try mount.status().tiers.temporary.files == 1)
            }
        }

        @Test func aStoreThatIsNotMounted() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 4096)
                try mount.make("tmp/b", size: 4096)
                let id = try mount.status().app.container
                try mount.unmount()
                let launch = try PurgefsBinary.run("app", "launch", mount.store)
                #expect(launch.status == 1 && launch.errors.contains("not mounted"))
                try PurgefsBinary.run("app", "update", mount.store).succeeded()
                try mount.mount()
                let updated = try mount.status().app.container
                #expect(updated != id && !mount.exists("tmp/b") && mount.exists("Documents/a"))
                try mount.unmount()
                try PurgefsBinary.run("app", "delete", mount.store).succeeded()
                #expect(try Files.tree("\(mount.store)/container") == [])
                try mount.mount()
                #expect(try mount.status().app.container != updated)
                #expect(try tree(mount) == Self.layout)
            }
        }

        /// The mount path of a run contains the container's UUID, which an update changes.
        @Test func anUpdateMovesTheContainerOfTheNextRun() throws {
            try Scratch.with("run") { scratch in
                let store = "\(scratch.path)/store"
                func run(_ script: String) throws -> String {
                    let words = [PurgefsBinary.path, "run", "--quiet", "--store", store, "--", "sh", "-c", script]
                    return try Program.run(words).succeeded().trimmingCharacters(in: .whitespacesAndNewlines)
                }
                let path = "cat $PURGEFS_MOUNT/.purgefs/app.state; basename $PURGEFS_MOUNT"
                let first = try run("echo x > $HOME/Documents/a; echo x > $TMPDIR/b; \(path)")
                #expect(try run(path) == first && first.hasPrefix("foreground\n"))
                try PurgefsBinary.run("app", "update", store).succeeded()
                let second = try run("\(path); ls $HOME/Documents $TMPDIR")
                #expect(!second.hasPrefix(first) && second.hasPrefix("foreground\n"))
                #expect(second.contains("a\n") && !second.contains("b\n"))
                let events = try StoreEvent.journal(of: store).map { "\($0.type) \($0.reason ?? "")" }
                let run = ["mount ", "app launch", "app terminate", "unmount "]
                #expect(events.filter { !$0.hasPrefix("purge") } == run + run + ["app update"] + run)
            }
        }
    }
}
