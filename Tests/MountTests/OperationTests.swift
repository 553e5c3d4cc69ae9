import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Operations on names and data, which behave as on a local file system.
    @Suite struct OperationTests {
        @Test func renameFlags() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 1)
                try mount.make("tmp/b", size: 2)
                let (a, b) = (mount.path("Documents/a"), mount.path("tmp/b"))
                #expect(throws: Errno.exists) { try Files.rename(a, b, flags: RenameFlag.noReplace) }
                try Files.rename(a, b, flags: RenameFlag.exchange)
                #expect(try Files.size(a) == 2 && Files.size(b) == 1)
                #expect(throws: Errno.noEntry) { try Files.rename(a, mount.path("none"), flags: RenameFlag.exchange) }
                try Files.rename(a, mount.path("Library/c"), flags: RenameFlag.noReplace)
                #expect(!Files.exists(a) && mount.exists("Library/c"))
                #expect(throws: Errno.invalid) { try Files.rename(b, mount.path("x"), flags: 3) }
            }
        }

        @Test func renamesOfDirectories() throws {
            try withMount { mount in
                for path in ["tmp/d", "tmp/d/e", "Documents/empty", "Documents/full"] { try mount.makeDirectory(path) }
                try mount.make("Documents/full/f", size: 1)
                #expect(throws: Errno.invalid) { try Files.rename(mount.path("tmp/d"), mount.path("tmp/d/e/d")) }
                #expect(throws: Errno.notEmpty) { try Files.rename(mount.path("tmp/d"), mount.path("Documents/full")) }
                #expect(throws: Errno.notEmpty) { try Files.removeDirectory(mount.path("Documents/full")) }
                #expect(throws: Errno.notDirectory) {
                    try Files.rename(mount.path("tmp/d"), mount.path("Documents/full/f"))
                }
                #expect(throws: Errno.isDirectory) {
                    try Files.rename(mount.path("Documents/full/f"), mount.path("tmp/d"))
                }
                try Files.rename(mount.path("tmp/d"), mount.path("Documents/empty"))
                #expect(mount.exists("Documents/empty/e") && !mount.exists("tmp/d"))
            }
        }

        @Test func linksOfBothKinds() throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 5000)
                try Files.link(mount.path("Documents/f"), mount.path("tmp/hard"))
                #expect(try Files.status(mount.path("tmp/hard")).st_nlink == 2)
                #expect(
                    try Files.status(mount.path("tmp/hard")).st_ino == Files.status(mount.path("Documents/f")).st_ino)
                #expect(throws: Errno.exists) { try Files.link(mount.path("Documents/f"), mount.path("tmp/hard")) }
                #expect(throws: Errno.notPermitted) { try Files.link(mount.path("Documents"), mount.path("tmp/d")) }
                try Files.symlink("../Documents/f", mount.path("tmp/soft"))
                #expect(try Files.content(mount.path("tmp/soft")).count == 5000)
                #expect(try Files.size(mount.path("tmp/soft")) == 14 && Files.charged(mount.path("tmp/soft")) == 0)
                try Files.unlink(mount.path("Documents/f"))
                #expect(try Files.content(mount.path("tmp/hard")).count == 5000)
                #expect(throws: Errno.noEntry) { try Files.content(mount.path("tmp/soft")) }
                #expect(try mount.number("storage.used") == 8192)
            }
        }

        @Test func fifosAndSockets() throws {
            try withMount { mount in
                #expect(mkfifo(mount.path("tmp/fifo"), 0o640) == 0)
                #expect(try Files.status(mount.path("tmp/fifo")).st_mode == S_IFIFO | 0o640)
                let script = """
                    import os, socket, threading
                    s = socket.socket(socket.AF_UNIX); s.bind('tmp/s'); s.listen()
                    c = socket.socket(socket.AF_UNIX); c.connect('tmp/s'); c.send(b'x'); assert s.accept()[0].recv(1) == b'x'
                    threading.Thread(target=lambda: open('tmp/fifo', 'wb').write(b'through')).start()
                    assert open('tmp/fifo', 'rb').read() == b'through'
                    """
                try Program.run([Program.python, "-c", script], in: mount.root).succeeded()
                #expect(try Files.status(mount.path("tmp/s")).st_mode & S_IFMT == S_IFSOCK)
                #expect(try mount.number("storage.used") == 0)
            }
        }

        @Test func openFlags() throws {
            try withMount { mount in
                let path = mount.path("Documents/f")
                try Files.make(path, size: 10_000)
                #expect(throws: Errno.exists) { try OpenFile(path, O_RDWR | O_CREAT | O_EXCL) }
                let appending = try OpenFile(path, O_WRONLY | O_APPEND)
                #expect(try appending.write(5) == 5)
                #expect(try Files.size(path) == 10_005)
                #expect(throws: Errno.badFileDescriptor) { try appending.read(1) }
                let truncated = try OpenFile(path, O_RDWR | O_TRUNC)
                #expect(try truncated.status().st_size == 0 && truncated.status().st_blocks == 0)
                #expect(try appending.write(1) == 1)
                #expect(throws: Errno.notDirectory) { try OpenFile(path, O_RDONLY | O_DIRECTORY) }
                #expect(throws: Errno.isDirectory) { try OpenFile(mount.path("tmp"), O_WRONLY) }
                try Files.symlink("f", mount.path("Documents/link"))
                #expect(throws: Errno(ELOOP)) { try OpenFile(mount.path("Documents/link"), O_RDONLY | O_NOFOLLOW) }
            }
        }

        @Test func namesOfAllKinds() throws {
            try withMount { mount in
                let names = [
                    "blank and\ttab", "new\nline", "\"'`$\\", "Größe 🦆", "-rf", ".hidden",
                    String(repeating: "x", count: 255),
                ]
                for name in names { try mount.make("Documents/\(name)", size: 1) }
                #expect(try Files.names(in: mount.path("Documents")) == names.sorted())
                let tooLong = String(repeating: "x", count: 256)
                #expect(throws: Errno.nameTooLong) { try Files.make(mount.path("Documents/\(tooLong)"), size: 1) }
                #expect(throws: Errno.nameTooLong) { try Files.makeDirectory(mount.path(tooLong)) }
                try mount.remount()
                #expect(try Files.names(in: mount.path("Documents")) == names.sorted())
            }
        }

        /// A listing that takes many requests has every entry, although the test removes each entry as soon as it is listed.
        @Test func largeDirectories() throws {
            try withMount(deadline: 200) { mount in
                let count = Scale.of(20_000)
                for number in 0..<count { try mount.make("Documents/a-rather-long-name-\(number)", size: 0) }
                #expect(try Set(Files.names(in: mount.path("Documents"))).count == count)
                let stream = try #require(opendir(mount.path("Documents")))
                defer { closedir(stream) }
                var seen = 0
                while let entry = readdir(stream) {
                    let name = withUnsafeBytes(of: entry.pointee.d_name) {
                        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                    }
                    if name == "." || name == ".." { continue }
                    seen += 1
                    try Files.unlink(mount.path("Documents/\(name)"))
                }
                #expect(seen == count, "entries vanished while others were removed")
                #expect(try Files.names(in: mount.path("Documents")) == [])
            }
        }

        @Test func timesAndModes() throws {
            try withMount { mount in
                let path = mount.path("Documents/f")
                try Files.make(path, size: 10)
                try Files.changeMode(path, 0o4751)
                #expect(try Files.status(path).st_mode == S_IFREG | 0o4751)
                #expect(chown(path, 1234, 4321) == 0)
                let owned = try Files.status(path)
                #expect(owned.st_uid == 1234 && owned.st_gid == 4321)
                #expect(owned.st_mode & 0o4000 == 0, "a change of the owner clears setuid")
                let times = [
                    timespec(tv_sec: 1_000_000_000, tv_nsec: 123_456_789),
                    timespec(tv_sec: 1_200_000_000, tv_nsec: 987_654_321),
                ]
                #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
                let status = try Files.status(path)
                #expect(status.st_atim.tv_sec == 1_000_000_000 && status.st_atim.tv_nsec == 123_456_789)
                #expect(status.st_mtim.tv_sec == 1_200_000_000 && status.st_mtim.tv_nsec == 987_654_321)
                try mount.remount()
                #expect(try Files.status(path).st_mtim.tv_nsec == 987_654_321)
            }
        }
    }
}
