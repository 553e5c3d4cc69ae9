import Glibc
import Support
import Testing

extension Mounts {
    /// A process with all capabilities in a user namespace of its own has none outside it.
    @Suite struct UserNamespaceTests {
        private static let script = """
            import os, sys
            kind = sys.argv[1]
            file = os.open("f", os.O_RDWR | (os.O_TRUNC if kind == "O_TRUNC" else 0))
            source = os.open("source", os.O_RDONLY)
            if kind == "write": os.pwrite(file, b"x", 0)
            if kind == "sendfile": os.sendfile(file, source, 0, 10)
            if kind == "ftruncate": os.ftruncate(file, 4096)
            if kind == "truncate": os.truncate("f", 4096)
            if kind == "fallocate": os.posix_fallocate(file, 0, 16384)
            if kind == "copy": os.copy_file_range(source, file, 100)
            """

        /// A change by a process with capabilities only in its own user namespace clears set-user-ID and set-group-ID, like a
        /// change by any ordinary user.
        @Test(arguments: ["write", "sendfile", "ftruncate", "truncate", "fallocate", "copy", "O_TRUNC"])
        func privilegesGo(kind: String) throws {
            try withMount(["--total", "64M", "--allow-other"]) { mount in
                try mount.makeDirectory("Documents/shared")
                try mount.make("Documents/shared/f", size: 8192)
                try mount.make("Documents/shared/source", size: 4096)
                try Files.changeMode(mount.path("Documents/shared/source"), 0o644)
                for (mode, left) in [(0o6777, 0o777), (0o4766, 0o766), (0o2777, 0o777), (0o6767, 0o767)] {
                    try Files.changeMode(mount.path("Documents/shared/f"), mode_t(mode))
                    let caller = [
                        "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "unshare", "-Ur",
                    ]
                    try Program.run(
                        caller + [Program.python, "-c", Self.script, kind], in: mount.path("Documents/shared")
                    ).succeeded()
                    let status = try Files.status(mount.path("Documents/shared/f"))
                    #expect(Int(status.st_mode) & 0o7777 == left, "of \(String(mode, radix: 8))")
                }
            }
        }

        /// Changes by root clear neither set-user-ID nor set-group-ID.
        @Test func rootKeepsThem() throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 8192)
                try mount.make("Documents/source", size: 4096)
                try Files.changeMode(mount.path("Documents/f"), 0o6777)
                for kind in ["write", "fallocate", "copy"] {
                    try Program.run([Program.python, "-c", Self.script, kind], in: mount.path("Documents")).succeeded()
                    #expect(try Files.status(mount.path("Documents/f")).st_mode & 0o7777 == 0o6777, "\(kind)")
                }
            }
        }
    }
}
