import Glibc
import Support
import Testing

extension Mounts {
    /// `purgefs clean` and directories with the age `manual`.
    @Suite struct ManualDirectoryTests {
        /// Directories with the age `manual` are emptied after the tasks of the list, files in use included. They stay, and so
        /// do directories in them with another policy, and directories without the age.
        @Test(arguments: [true, false]) func manualDirectories(mounted: Bool) throws {
            try CleanTests.withContainer(mounted: mounted) { mount, target in
                let container = mounted ? mount.root : "\(mount.store)/container"
                func add(_ folder: String, _ options: String...) throws {
                    try Program.run([PurgefsBinary.path, "policy", "add", "\(container)/\(folder)"] + options)
                        .succeeded()
                }
                try add("Documents/feed")
                try add("Documents/feed/sub/week", "--after", "oneWeek")
                try add("Documents/limited", "--limit", "1M")
                try add("Library/Caches/images", "--after", "manual", "--limit", "1M")
                for path in ["feed/sub/week/kept", "limited/kept"] {
                    try Files.write("x", to: "\(container)/Documents/\(path)")
                }
                let open = try OpenFile("\(container)/Documents/feed/kept", O_RDWR)
                defer { open.close() }
                let list = try CleanTests.list([["Path": "Library/Caches/other"]], for: mount)
                let words = [PurgefsBinary.path, "clean", target, "--plist", list]
                let plan = try Program.run(words + ["--dry-run"]).succeeded()
                #expect(plan.contains("task 2        8.0 KiB  Documents/feed/sub/c.tmp\n"), "\(plan)")
                #expect(plan.contains("would remove 7 files, 56.0 KiB, and run 0 commands"), "\(plan)")
                let text = try Program.run(words).succeeded()
                #expect(text.contains("task 2: Documents/feed: removed 4 files, 32.0 KiB\n"), "\(text)")
                #expect(text.contains("task 3: Library/Caches/images: removed 2 files, 16.0 KiB\n"), "\(text)")
                #expect(
                    try CleanTests.files(mount) == ["Documents/feed/sub/week/kept", "Documents/limited/kept", "tmp/t"])
                let policies = try PurgefsBinary.run("policy", "list", target).succeeded()
                #expect(policies.split(separator: "\n").count == 4, "\(policies)")
                #expect(try open.read(5000).count == 5000)
            }
        }
    }
}
