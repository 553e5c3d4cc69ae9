import Glibc
import PurgeSystem
import Support
import Testing

struct NewDirectoryTests {
    @Test(arguments: ["folder", "link", "full"]) func anotherOneUnderItsName(kind: String) throws {
        try Scratch.with("new") { scratch in
            let parent = try FileDescriptor.open(scratch.path, O_RDONLY | O_DIRECTORY)
            try Files.makeDirectory("\(scratch.path)/other", mode: 0o700)
            if kind == "full" { try Files.write("", to: "\(scratch.path)/other/file") }
            if kind == "folder" { try Files.changeMode("\(scratch.path)/other", geteuid() == 0 ? 0o755 : 0o700) }
            let replace = {
                _ = try? Files.rename("\(scratch.path)/new", "\(scratch.path)/moved")
                if kind == "link" {
                    _ = try? Files.symlink("other", "\(scratch.path)/new")
                } else {
                    _ = try? Files.rename("\(scratch.path)/other", "\(scratch.path)/new")
                }
            }
            let outcome = SystemCallFaults.running(replace, before: .openat) {
                try NewDirectory.make("new", in: parent)
            }
            let isRefused = kind != "folder" || geteuid() == 0
            let made = try? outcome.result.get()
            #expect(outcome.hits == 1 && (made == nil) == isRefused, "\(outcome.result)")
        }
    }

    /// Root follows a link only where nobody else can have put it.
    @Test(.enabled(if: geteuid() == 0, "only root is asked to write for others"), arguments: [true, false])
    func output(isOthers: Bool) throws {
        try Scratch.with("output") { scratch in
            try Files.makeDirectory("\(scratch.path)/place")
            try Files.write("root's", to: "\(scratch.path)/file")
            try Files.symlink("../file", "\(scratch.path)/place/link")
            if isOthers { try #require(chown("\(scratch.path)/place", 65534, 65534) == 0) }
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
}
