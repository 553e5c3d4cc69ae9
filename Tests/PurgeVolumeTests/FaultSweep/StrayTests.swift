import Glibc
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// Strays: entries that a failed call has created in the store and could not remove.
struct StrayTests {
    /// Leaves a file `Documents/d/f` in the store that the tree does not know.
    private func leaveStray(_ live: LiveVolume) throws {
        try live.makeDirectory("Documents/d")
        let probe = SystemCallFaults.none.during { live.volume.close(try live.create("Documents/d/probe")) }
        try live.unlink("Documents/d/probe")
        // The fstat(2) of the new file fails, and so do all later calls.
        guard let look = probe.calls.firstIndex(of: .fstat) else { throw TestFailure("\(probe.calls)") }
        let outcome = SystemCallFaults(after: look, code: EIO, count: .max).during {
            _ = try live.create("Documents/d/f")
        }
        #expect(throws: Errno(EIO)) { try outcome.result.get() }
        #expect(!live.exists("Documents/d/f"))
        #expect(Files.exists(live.stored("Documents/d/f")))
    }

    @Test func itsNameCanBeHadAgain() throws {
        try withVolume { live in
            try leaveStray(live)
            try live.make("Documents/d/f", blocks: 2)
            let charged = try live.chargedBlocks("Documents/d/f")
            #expect(charged == 2)
            let scanned = try live.scannedBlocks()
            #expect(scanned == 2 && live.used == 2)
        }
    }

    @Test func itIsNotTakenForWhatIsRenamedThere() throws {
        try withVolume { live in
            try leaveStray(live)
            try live.make("tmp/g", blocks: 3)
            try live.rename("tmp/g", "Documents/d/f")
            live.volume.removeLeftovers()
            #expect(Files.exists(live.stored("Documents/d/f")))
            let scanned = try live.scannedBlocks()
            #expect(scanned == 3)
        }
    }

    @Test func itsFolderCanBeRemoved() throws {
        try withVolume { live in
            try leaveStray(live)
            try live.removeDirectory("Documents/d")
            #expect(!Files.exists(live.stored("Documents/d")))
        }
    }

    /// As long as a stray cannot be removed from the store, its name cannot be used, and nothing is written over it.
    @Test func itStandsInTheWayWhileTheStoreFails() throws {
        try withVolume { live in
            // Creating a name tries again to remove the stray, so this file is created first.
            try live.make("tmp/g", blocks: 1)
            try leaveStray(live)
            let broken = SystemCallFaults(after: 0, of: .unlinkat, code: EIO, count: .max)
            let calls: [() throws -> Void] = [
                { _ = try live.create("Documents/d/f") }, { try live.makeDirectory("Documents/d/f") },
                { try live.symlink("Documents/d/f") }, { try live.rename("tmp/g", "Documents/d/f") },
                { try live.link("tmp/g", "Documents/d/f") },
            ]
            for call in calls {
                let outcome = broken.during(call)
                #expect(throws: Errno(EIO)) { try outcome.result.get() }
                #expect(outcome.hits > 0)
            }
            live.volume.removeLeftovers()
            #expect(!Files.exists(live.stored("Documents/d/f")))
            try live.rename("tmp/g", "Documents/d/f")
        }
    }
}
