import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// A purged name is gone for every process when the purging call returns (docs/RULES.md, What sets off a purge).
    @Suite struct PurgeNotificationTests {
        static let count = 50

        private func makeFiles(_ mount: TestMount) throws -> [String] {
            let names = (0..<Self.count).map { "f\($0)" }
            for name in names { try mount.make("Library/Caches/\(name)", size: 4096) }
            return names
        }

        @Test(arguments: [true, false]) func watchersAreTold(byCommand: Bool) throws {
            try withMount { mount in
                let names = try makeFiles(mount)
                let watch = try DirectoryWatch(mount.path("Library/Caches"))
                if byCommand {
                    try mount.write("caches", to: "storage.reclaim")
                } else {
                    try mount.takeAllFreeSpace()
                    try mount.writeImportant(Self.count * 4096)
                }
                watch.collect()
                #expect(watch.deleted == names)
            }
        }

        /// Watchers are also notified of purged files that the kernel has not looked up since the mount.
        @Test func watchersAreToldOfFilesThatNobodyHasSeen() throws {
            try withMount { mount in
                let names = try makeFiles(mount)
                try mount.remount()
                let watch = try DirectoryWatch(mount.path("Library/Caches"))
                try mount.write("all", to: "storage.reclaim")
                watch.collect()
                #expect(Set(watch.deleted) == Set(names) && watch.deleted.count == names.count)
            }
        }

        @Test func namesAreGoneFromEveryCall() throws {
            try withMount { mount in
                let names = try makeFiles(mount)
                let folder = mount.path("Library/Caches")
                _ = try Files.names(in: folder)
                for name in names { _ = try Files.status("\(folder)/\(name)") }
                try mount.write("caches", to: "storage.reclaim")
                for name in names {
                    let path = "\(folder)/\(name)"
                    #expect(throws: Errno.noEntry) { try Files.status(path) }
                    #expect(throws: Errno.noEntry) { try OpenFile(path, O_RDONLY) }
                    #expect(throws: Errno.noEntry) { try Attributes.get(path, "user.purgefs.tier") }
                    #expect(throws: Errno.noEntry) { try Files.unlink(path) }
                }
                #expect(try Files.names(in: folder) == [])
            }
        }

        /// A folder is moved before the kernel can be notified of the names that were purged in it.
        @Test func namesInAFolderThatIsMovedMeanwhile() throws {
            try withMount(deadline: 60) { mount in
                let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                    .appendingPathComponent("Programs/moved_folder.py").path
                let output = try Program.run([Program.python, program, mount.root], timeout: 50).succeeded()
                #expect(output == "0 300\n")
                // The purge did not wait for the folder's lock.
                #expect(try !mount.read("storage.stat").contains("announcements.late 0\n"))
            }
        }

        /// A purged name can be created again at once. The announcement of its purge must not remove the new file.
        @Test func namesCanBeMadeAnewAtOnce() throws {
            try withMount { mount in
                for round in 0..<Scale.of(200) {
                    try mount.make("tmp/f", size: 4096)
                    try mount.write("tmp", to: "storage.reclaim")
                    let file = try OpenFile(mount.path("tmp/f"), O_RDWR | O_CREAT | O_EXCL)
                    try file.fill(100)
                    #expect(try Files.size(mount.path("tmp/f")) == 100, "round \(round)")
                    #expect(try Files.names(in: mount.path("tmp")) == ["f"], "round \(round)")
                    file.close()
                    try Files.unlink(mount.path("tmp/f"))
                }
            }
        }

        /// While caches are purged again and again, two threads keep recreating files under the same names. Each file keeps its
        /// content while it is open.
        @Test func aNameThatIsMadeAnewAllTheTime() throws {
            try withMount { mount in
                let isDone = Tally()
                let maker = Workers.start(2) { worker in
                    while isDone.value == 0 {
                        let file = try OpenFile(mount.path("Library/Caches/w\(worker)"), O_RDWR | O_CREAT)
                        try file.fill(4096)
                        let content = try file.read(4096)
                        guard content == [UInt8](repeating: 0xA7, count: 4096) else {
                            throw TestFailure("lost the content of an open file")
                        }
                    }
                }
                for _ in 0..<Scale.of(300) { try mount.write("caches", to: "storage.reclaim") }
                isDone.add()
                try maker.join()
            }
        }

        /// A file that is opened first is skipped. If it is purged first, the opener gets ENOENT. There is no third outcome.
        @Test func openingAgainstPurging() throws {
            try withMount { mount in
                try mount.turnThresholdsOff()
                let isDone = Tally()
                let opened = Tally()
                let readers = Workers.start(3) { worker in
                    var random = SeededGenerator(seed: UInt64(worker))
                    while isDone.value == 0 {
                        let path = mount.path("tmp/f\(random.below(6))")
                        guard let file = try? OpenFile(path, O_RDONLY) else { continue }
                        opened.add()
                        let status = try file.status()
                        guard status.st_nlink == 1, try Files.status(path).st_ino == status.st_ino else {
                            throw TestFailure("an open file was purged")
                        }
                        let content = try file.read(8192)
                        guard content.allSatisfy({ $0 == 0xA7 }) else { throw TestFailure("wrong content") }
                    }
                }
                for _ in 0..<Scale.of(400) {
                    for name in 0..<6 where !mount.exists("tmp/f\(name)") { try mount.make("tmp/f\(name)", size: 8192) }
                    try mount.write("tmp", to: "storage.reclaim")
                }
                isDone.add()
                try readers.join()
                #expect(opened.value > 0)
            }
        }

        /// A call may hold the kernel's lock of a directory and wait for a name that the purge has not reached, while
        /// the purge's announcements wait for that lock. Neither may block the other.
        @Test func aFolderInUseWhileAllOfItIsPurged() throws {
            try withMount { mount in
                try mount.turnThresholdsOff()
                for round in 0..<3 {
                    let folder = mount.path("Library/Caches/\(round)")
                    try mount.makeDirectory("Library/Caches/\(round)")
                    let count = Scale.of(3000)
                    for number in 0..<count { try mount.make("Library/Caches/\(round)/f\(number)", size: 1) }
                    try mount.remount()
                    let isDone = Tally()
                    let users = Workers.start(3) { worker in
                        var random = SeededGenerator(seed: UInt64(worker))
                        while isDone.value == 0 {
                            let path = "\(folder)/f\(random.below(count))"
                            do {
                                switch worker {
                                case 0:
                                    for name in try Files.names(in: folder) {
                                        _ = try? Files.status("\(folder)/\(name)")
                                    }
                                case 1: try Files.unlink(path)
                                default: _ = try Files.status(path)
                                }
                            } catch let error as Errno where error == .noEntry {}
                        }
                    }
                    try mount.write("caches", to: "storage.reclaim")
                    isDone.add()
                    try users.join()
                    #expect(try Files.names(in: folder) == [])
                    #expect(try mount.number("storage.used") == 0)
                }
            }
        }

        /// Descriptors that were open before the purge keep working, whether of files, unlinked files or folders.
        @Test func descriptorsKeepWorking() throws {
            try withMount { mount in
                try mount.makeDirectory("Library/Caches/folder")
                for name in ["kept", "unlinked", "gone"] { try mount.make("Library/Caches/folder/\(name)", size: 8192) }
                let folder = mount.path("Library/Caches/folder")
                let directory = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
                let kept = try OpenFile("\(folder)/kept", O_RDONLY)
                let unlinked = try OpenFile("\(folder)/unlinked", O_RDWR)
                try Files.unlink("\(folder)/unlinked")
                try mount.write("all", to: "storage.reclaim")
                #expect(try Files.names(in: folder) == ["kept"])
                #expect(try kept.read(8192) == [UInt8](repeating: 0xA7, count: 8192))
                #expect(try unlinked.read(8192).count == 8192)
                #expect(try unlinked.write(4096, at: 8192) == 4096)
                #expect(try unlinked.status().st_nlink == 0)
                #expect(try directory.status().st_mode & S_IFMT == S_IFDIR)
                #expect(throws: Errno.noEntry) { try System.status(at: directory.descriptor, "gone") }
                #expect(try System.status(at: directory.descriptor, "kept").st_size == 8192)
            }
        }

        /// An O_PATH descriptor does not keep a file open. The file is purged, and opening it through the descriptor
        /// fails.
        @Test func aDescriptorOfThePathAloneHoldsNothing() throws {
            try withMount { mount in
                try mount.make("tmp/f", size: 4096)
                let path = try OpenFile(mount.path("tmp/f"), System.openPath)
                try mount.write("tmp", to: "storage.reclaim")
                #expect(!mount.exists("tmp/f"))
                #expect(throws: (any Error).self) { try OpenFile("/proc/self/fd/\(path.descriptor)", O_RDONLY) }
            }
        }

        /// When a write returns that has used the room of a purge in the background, or lacked room in spite of it, the purged
        /// file is gone. strace delays the removal from the store, and its announcement.
        @Test(arguments: [100 << 20, 127 << 19]) func afterAWriteBesideAPurge(size: Int) throws {
            let script = """
                import os, sys
                photo, album = "Library/Caches/photo", "Documents/album"
                for _ in range(3):
                    open(photo, "wb").write(bytes(1 << 20))
                    try:
                        open(album, "wb", buffering=0).write(bytes(\(size)))
                    except OSError as error:
                        if error.errno != 28: raise
                    assert not os.access(photo, os.F_OK)
                    os.unlink(album)
                """
            try withMount { mount in
                try mount.unmount()
                let late = ["-e", "trace=unlink,unlinkat", "-e", "inject=unlink,unlinkat:delay_exit=15000"]
                try mount.mount(["--total", "64M"], wrapper: ["strace", "-f", "-qq", "-o", "/dev/null"] + late)
                _ = try Program.run([Program.python, "-S", "-c", script], in: mount.path("")).succeeded()
            }
        }
    }
}
