import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// A file with a flag of its own is replaced by a rename over it (docs/CONTROL.md, events).
struct FlagLostTests {
    /// `Documents/old` with these flags is replaced by a new file with those; what is said to be lost.
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
        // A flag of another strength is another one.
        #expect(try lost(["isPurgeable": "medium"], ["isPurgeable": "low"]) == ["isPurgeable=medium"])
        // It goes with the file, or the name goes with it.
        #expect(try lost(["isExcludedFromBackup": "1"]) { try $0.unlink("Documents/old") }.isEmpty)
        #expect(try lost(["isExcludedFromBackup": "1"]) { try $0.rename("Documents/old", "Documents/moved") }.isEmpty)
        #expect(
            try lost(["isExcludedFromBackup": "1"]) {
                try $0.rename("Documents/new", "Documents/old", flags: System.renameExchange)
            }.isEmpty)
        // Two names of one file: rename(2) does nothing.
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
