import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// A rename replaces a file that has a flag of its own (docs/CONTROL.md, events).
struct FlagLostTests {
    /// Replaces `Documents/old`, with the flags `old`, by a file with the flags `new`, and returns the flags reported lost.
    private func lost(
        _ old: [String: String], _ new: [String: String] = [:], folder: [String: String] = [:],
        _ replace: (LiveVolume) throws -> Void = { try $0.rename("Documents/new", "Documents/old") }
    ) throws -> [String] {
        try withVolume { live in
            for (name, value) in folder { try live.set(name, of: "Documents", to: value) }
            try live.make("Documents/old", blocks: 1)
            try live.make("Documents/new", blocks: 1)
            for (name, value) in old { try live.set(name, of: "Documents/old", to: value) }
            for (name, value) in new { try live.set(name, of: "Documents/new", to: value) }
            try replace(live)
            return try live.events(.flagLost).map { event in
                #expect(event.path == "Documents/old" && event.tier == .persistent && event.pid != nil)
                return try #require(event.reason)
            }
        }
    }

    @Test func anAtomicSaveLosesFlags() throws {
        #expect(try lost(["isExcludedFromBackup": "1"]) == ["isExcludedFromBackup=1"])
        #expect(try lost(["isPurgeable": "high"]) == ["isPurgeable=high"])
        let both = try lost(["isPurgeable": "1", "isExcludedFromBackup": "1"])
        #expect(both == ["isPurgeable=low", "isExcludedFromBackup=1"])
    }

    @Test func whatIsNotLost() throws {
        #expect(try lost([:], ["isPurgeable": "high"]).isEmpty)
        #expect(try lost(["fileProtection": "NSFileProtectionComplete"]).isEmpty)
        // The new file has the flag itself, or a folder above it has.
        #expect(try lost(["isExcludedFromBackup": "1"], ["isExcludedFromBackup": "1"]).isEmpty)
        #expect(try lost(["isExcludedFromBackup": "1"], folder: ["isExcludedFromBackup": "1"]).isEmpty)
        #expect(try lost(["isPurgeable": "medium"], folder: ["isPurgeable": "medium"]).isEmpty)
        // A mark of another urgency is another flag.
        #expect(try lost(["isPurgeable": "medium"], ["isPurgeable": "low"]) == ["isPurgeable=medium"])
        // The old file is removed, renamed or exchanged, but not replaced.
        #expect(try lost(["isExcludedFromBackup": "1"]) { try $0.unlink("Documents/old") }.isEmpty)
        #expect(try lost(["isExcludedFromBackup": "1"]) { try $0.rename("Documents/old", "Documents/moved") }.isEmpty)
        #expect(
            try lost(["isExcludedFromBackup": "1"]) {
                try $0.rename("Documents/new", "Documents/old", flags: System.renameExchange)
            }.isEmpty)
        // rename(2) of one name of a file onto another does nothing.
        #expect(
            try lost(["isExcludedFromBackup": "1"]) {
                try $0.unlink("Documents/new")
                try $0.link("Documents/old", "Documents/new")
                try $0.rename("Documents/new", "Documents/old")
            }.isEmpty)
    }

    @Test func aRenameThatFailsLosesNothing() throws {
        try withVolume { live in
            try live.make("Documents/old", blocks: 1)
            try live.make("Documents/new", blocks: 1)
            try live.set("isExcludedFromBackup", of: "Documents/old", to: "1")
            let outcome = SystemCallFaults(after: 0, of: .renameat2, code: EIO, count: .max).during {
                Result { () throws(Errno) in try live.rename("Documents/new", "Documents/old") }
            }
            #expect(throws: Errno.ioError) { try outcome.result.get().get() }
            #expect(try live.events(.flagLost).isEmpty)
        }
    }
}
