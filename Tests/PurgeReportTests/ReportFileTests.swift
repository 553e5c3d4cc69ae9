import Glibc
import PurgeSystem
import Support
import Testing

@testable import PurgeCommandLine
@testable import PurgeReport

struct ReportFileTests {
    /// Whichever call fails, the name has its old file, the complete page or nothing, and no other name is left behind.
    @Test(arguments: [false, true]) func neverHalfAPage(isThere: Bool) throws {
        try Scratch.with("report") { scratch in
            let path = scratch.path + "/report.html"
            let text = String(repeating: "page ", count: 100_000)
            var failures = 0
            for count in 0..<50 {
                try? Files.unlink(path)
                if isThere { try Files.write("before", to: path) }
                let writing = SystemCallFaults(after: count, code: ENOSPC).during {
                    try ReportFile(path: path).write(text)
                }
                #expect(try Files.names(in: scratch.path).allSatisfy { $0 == "report.html" })
                if writing.hits == 0 { break }
                failures += 1
                switch writing.result {
                case .success: #expect(Files.text(path) == text)
                case .failure(let error):
                    let message = try #require(error as? CommandFailure).message
                    #expect(message.hasPrefix("cannot write the report: \(path): No space left on device"))
                    #expect(isThere ? Files.text(path) == "before" : !Files.exists(path))
                }
            }
            #expect(failures >= 5 && Files.text(path) == text)
        }
    }

    /// A replaced file keeps its mode; a new file gets 0644, reduced by the umask.
    @Test(arguments: [mode_t(0o600), 0o640, 0o666, 0o444]) func modeIsKept(mode: mode_t) throws {
        try Scratch.with("report") { scratch in
            let path = scratch.path + "/report.html"
            func found() throws -> mode_t { try System.status(ofPath: path).st_mode & 0o7777 }
            try ReportFile(path: path).write("new")
            try Files.write("", to: scratch.path + "/plain")
            #expect(try found() == System.status(ofPath: scratch.path + "/plain").st_mode & 0o7777 & 0o644)
            chmod(path, mode)
            try ReportFile(path: path).write("newer")
            #expect(try found() == mode && Files.text(path) == "newer")
        }
    }

    /// Root writes no report through a link that the folder's owner has put in place of the folder since the run began.
    @Test(.enabled(if: geteuid() == 0, "only root writes where others can put a link"))
    func aLinkInThePlaceOfTheFolder() throws {
        try Scratch.with("report") { scratch in
            for name in ["place", "outside"] { try Files.makeDirectory("\(scratch.path)/\(name)") }
            let file = ReportFile(path: "\(scratch.path)/place/report.html")
            try file.check()
            try Files.rename("\(scratch.path)/place", "\(scratch.path)/moved")
            try Files.symlink("outside", "\(scratch.path)/place")
            #expect(throws: CommandFailure.self) { try file.write("text") }
            #expect(try Files.names(in: "\(scratch.path)/outside").isEmpty)
            try Files.unlink("\(scratch.path)/place")
            try Files.makeDirectory("\(scratch.path)/place")
            try file.write("text")
            #expect(Files.text("\(scratch.path)/place/report.html") == "text")
        }
    }

    /// `check` and `write` refuse a path through a link in another user's folder, and nothing is written through the link.
    @Test(.enabled(if: geteuid() == 0, "only root writes where others can put a link"))
    func aLinkOfSomebodyElse() throws {
        try Scratch.with("report") { scratch in
            for name in ["place", "outside"] { try Files.makeDirectory("\(scratch.path)/\(name)") }
            try Files.symlink("../outside", "\(scratch.path)/place/link")
            try #require(chown("\(scratch.path)/place", 65534, 65534) == 0)
            let path = "\(scratch.path)/place/link/report.html"
            let file = ReportFile(path: path)
            let refusal = """
                cannot write the report: \(path): the path contains a symbolic link in a directory that other users \
                can change, and root does not follow it
                  Name the path that realpath(1) prints.
                """
            let checking = #expect(throws: CommandFailure.self) { try file.check() }
            let writing = #expect(throws: CommandFailure.self) { try file.write("") }
            #expect(checking?.message == refusal && writing?.message == refusal)
            #expect(try Files.names(in: "\(scratch.path)/outside").isEmpty)
        }
    }

    private static func isDirectory(_ name: String) -> String {
        "it is a directory, and the report is a file\n  Name a file in it: SCRATCH/\(name)/report.html"
    }

    @Test func whatIsRefused() throws {
        try Scratch.with("report") { scratch in
            try Files.makeDirectory(scratch.path + "/folder")
            try Files.write("", to: scratch.path + "/plain")
            symlink("plain", scratch.path + "/link")
            mkfifo(scratch.path + "/pipe", 0o600)
            let cases = [
                ("folder", Self.isDirectory("folder")), ("folder/", Self.isDirectory("folder")),
                (".", Self.isDirectory(".")), ("..", Self.isDirectory("..")), ("new//", Self.isDirectory("new")),
                ("link", "it is a symbolic link"), ("pipe", "it is not a plain file"),
                ("nowhere/page", "there is no directory"),
                ("plain/page", "Not a directory"),
            ]
            for (name, text) in cases {
                let reason = text.replacing("SCRATCH", with: scratch.path)
                let path = "\(scratch.path)/\(name)"
                do throws(CommandFailure) {
                    try ReportFile(path: path).check()
                    Issue.record("\(name) was accepted")
                } catch { #expect(error.message.hasPrefix("cannot write the report: \(path): \(reason)"), "\(error)") }
            }
            for name in ["plain", "new"] { try ReportFile(path: "\(scratch.path)/\(name)").check() }
        }
    }
}
