import Glibc
import PurgeSystem
import Support
import Testing

struct NewDirectoryTests {
    private static let user: uid_t = 65534

    /// Creates a directory of another user, in which root works.
    private func makeOthers(_ path: String) throws {
        try Files.makeDirectory(path)
        if geteuid() == 0 { try #require(chown(path, Self.user, Self.user) == 0) }
    }

    @Test(arguments: ["folder", "empty", "link", "full"]) func anotherOneUnderItsName(kind: String) throws {
        try Scratch.with("new") { scratch in
            let place = "\(scratch.path)/place"
            try makeOthers(place)
            let parent = try FileDescriptor.open(place, O_RDONLY | O_DIRECTORY)
            try Files.makeDirectory("\(place)/other", mode: 0o700)
            if kind == "full" { try Files.write("", to: "\(place)/other/file") }
            if kind == "folder" { try Files.changeMode("\(place)/other", geteuid() == 0 ? 0o755 : 0o700) }
            let replace = {
                _ = try? Files.rename("\(place)/new", "\(place)/moved")
                if kind == "link" {
                    _ = try? Files.symlink("other", "\(place)/new")
                } else {
                    _ = try? Files.rename("\(place)/other", "\(place)/new")
                }
            }
            let outcome = SystemCallFaults.running(replace, before: .openat) {
                try NewDirectory.make("new", in: parent)
            }
            let isRefused = ["link", "full"].contains(kind) || geteuid() == 0
            let made = try? outcome.result.get()
            #expect(outcome.hits == 1 && (made == nil) == isRefused, "\(outcome.result)")
        }
    }

    /// A directory that does not keep its mode, for example on a file system with one mode for all directories, is refused and
    /// removed. Where only root can exchange names, the mode does not matter.
    @Test(.enabled(if: geteuid() == 0, "only root asks for a proof"), arguments: [true, false])
    func aModeThatIsNotKept(isOthers: Bool) throws {
        try Scratch.with("new") { scratch in
            let place = "\(scratch.path)/place"
            if isOthers { try makeOthers(place) } else { try Files.makeDirectory(place) }
            let parent = try FileDescriptor.open(place, O_RDONLY | O_DIRECTORY)
            let outcome = SystemCallFaults.running({ chmod("\(place)/new", 0o755) }, before: .openat) {
                try NewDirectory.make("new", in: parent)
            }
            #expect(outcome.hits == 1)
            if isOthers {
                #expect(throws: NewDirectory.unproven) { try outcome.result.get() }
            } else {
                _ = try outcome.result.get()
            }
            #expect(Files.exists("\(place)/new") != isOthers)
        }
    }

    /// The permissions of a folder and of all directories above it count. A sticky bit protects only entries that root owns.
    @Test(.enabled(if: geteuid() == 0, "only root's directories are trusted"))
    func directoriesThatKeepNames() throws {
        try Scratch.with("names") { scratch in
            let inner = "\(scratch.path)/outer/inner"
            for path in ["\(scratch.path)/outer", inner] { try Files.makeDirectory(path) }
            let folder = try FileDescriptor.open(inner, O_RDONLY | O_DIRECTORY)
            #expect(folder.keepsNames && folder.keepsNamesOfAll)
            for path in [inner, "\(scratch.path)/outer"] {
                for (mode, owner) in [(mode_t(0o777), uid_t(0)), (0o775, 0), (0o755, Self.user)] {
                    try #require(chmod(path, mode) == 0 && chown(path, owner, 0) == 0)
                    #expect(!folder.keepsNames && !folder.keepsNamesOfAll, "\(path) \(mode) \(owner)")
                }
                try #require(chmod(path, 0o1777) == 0 && chown(path, 0, 0) == 0)
                #expect(folder.keepsNames && folder.keepsNamesOfAll == (path != inner), "\(path)")
                try #require(chmod(path, 0o755) == 0)
            }
        }
    }

    /// If root cannot create a directory as another user, it creates one that root owns.
    @Test(.enabled(if: geteuid() == 0, "only root makes things for others"), arguments: [EACCES, EPERM])
    func forAnotherUser(code: Int32) throws {
        try Scratch.with("new") { scratch in
            let parent = try FileDescriptor.open(scratch.path, O_RDONLY | O_DIRECTORY)
            let outcome = SystemCallFaults(after: 0, of: .mkdirat, code: code).during {
                try System.makeDirectory(at: parent.raw, "new", mode: 0o700, for: Self.user, Self.user)
            }
            try outcome.result.get()
            #expect(try outcome.hits == 1 && Files.status("\(scratch.path)/new").st_uid == 0)
        }
    }

    /// Root follows a link only where nobody else can have put it.
    @Test(.enabled(if: geteuid() == 0, "only root is asked to write for others"), arguments: [true, false])
    func output(isOthers: Bool) throws {
        try Scratch.with("output") { scratch in
            try Files.makeDirectory("\(scratch.path)/place")
            try Files.write("root's", to: "\(scratch.path)/file")
            try Files.symlink("../file", "\(scratch.path)/place/link")
            if isOthers { try #require(chown("\(scratch.path)/place", Self.user, Self.user) == 0) }
            if isOthers {
                #expect(throws: Errno(ELOOP)) { try FileDescriptor.openOutput("\(scratch.path)/place/link", O_TRUNC) }
            } else {
                _ = try FileDescriptor.openOutput("\(scratch.path)/place/link", O_TRUNC)
            }
            #expect(Files.text("\(scratch.path)/file") == (isOthers ? "root's" : ""))
            try FileDescriptor.openOutput("\(scratch.path)/place/new", O_TRUNC).writeAll([0x61])
            #expect(Files.text("\(scratch.path)/place/new") == "a")
            for device in ["/dev/null", "/dev/stdout"] { _ = try FileDescriptor.openOutput(device, O_APPEND) }
        }
    }

    /// Root follows a link among the directories of a path only where nobody else can have put it. Root's own link is followed.
    @Test(.enabled(if: geteuid() == 0, "only root is asked to write for others"), arguments: ["outside", "../outside"])
    func outputBelowALink(target: String) throws {
        try Scratch.with("output") { scratch in
            try makeOthers("\(scratch.path)/place")
            for name in ["outside", "outside/inner", "own"] { try Files.makeDirectory("\(scratch.path)/\(name)") }
            let absolute = target.hasPrefix(".") ? target : "\(scratch.path)/\(target)"
            for folder in ["place", "own"] { try Files.symlink(absolute, "\(scratch.path)/\(folder)/link") }
            try Files.symlink("own/link", "\(scratch.path)/way")
            try Files.symlink("place/link", "\(scratch.path)/wrong")
            for path in ["place/link/file", "place/link/inner/file", "place/../place/link/file", "wrong/file"] {
                #expect(throws: Errno(ELOOP), "\(path)") {
                    try FileDescriptor.openOutput("\(scratch.path)/\(path)", O_TRUNC)
                }
                #expect(throws: Errno(ELOOP), "\(path)") {
                    try FileDescriptor.openTrusted("\(scratch.path)/\(path)".parentPath)
                }
            }
            #expect(try Files.names(in: "\(scratch.path)/outside") == ["inner"])
            for (number, path) in ["own/link", "way/inner", "place/../own/./link/"].enumerated() {
                try FileDescriptor.openOutput("\(scratch.path)/\(path)/\(number)", O_TRUNC).writeAll([0x61])
                let found = try FileDescriptor.openTrusted("\(scratch.path)/\(path)")
                #expect(try found.path == System.resolved("\(scratch.path)/\(path)"))
                #expect(Files.text("\(found.path)/\(number)") == "a")
            }
            #expect(throws: Errno.notDirectory) { try FileDescriptor.openOutput("\(scratch.path)/own/link/0/x", 0) }
            #expect(throws: Errno.noEntry) { try FileDescriptor.openOutput("\(scratch.path)/none/x", 0) }
        }
    }
}
