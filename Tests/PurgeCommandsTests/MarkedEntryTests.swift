import Glibc
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeCommands

/// A link that a store's owner puts in the place of an entry while it is being marked is not followed.
struct MarkedEntryTests {
    @Test(arguments: ["Documents/folder", "Documents/folder/file"]) func followsNoLink(_ replaced: String) throws {
        try Scratch.with("mark") { scratch in
            let outside = "\(scratch.path)/outside"
            func makeStore(_ name: String) throws -> String {
                let path = "\(scratch.path)/\(name)"
                let store = try Store.open(path, creating: true)
                try store.saveSettings(try store.loadSettings())
                try Files.makeDirectory("\(path)/container/Documents/folder")
                try Files.write("", to: "\(path)/container/Documents/folder/file")
                return "\(path)/container"
            }
            try Files.makeDirectory(outside)
            try Files.write("", to: "\(outside)/file")
            func mark(_ container: String) -> Int32 {
                Session("mark", "--purgeable", "\(container)/Documents/folder/file").status
            }
            let alone = try makeStore("alone")
            let calls = SystemCallFaults.none.during { #expect(mark(alone) == 0) }.calls
            try #require(calls.contains(.realpath) && calls.contains(.setxattr))
            for (index, name) in calls.enumerated() {
                let container = try makeStore("\(index)")
                let replace = {
                    _ = try? Files.rename("\(container)/\(replaced)", "\(container)/moved")
                    let target = replaced.hasSuffix("file") ? "\(outside)/file" : outside
                    _ = try? Files.symlink(target, "\(container)/\(replaced)")
                }
                let outcome = SystemCallFaults.running(
                    replace, before: name, after: calls[..<index].count { $0 == name }
                ) { _ = mark(container) }
                #expect(outcome.hits == 1)
                #expect(try Attributes.names("\(outside)/file").isEmpty, "before \(name), call \(index)")
            }
        }
    }
}
