import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// Purges of what a command names, or of what lies where it says.
struct ChosenPurgeTests {
    private func bytes(_ path: String) -> [UInt8] { Array(path.utf8) }

    /// `path reason` of what went, `path !cause` of what was refused.
    private func words(_ line: PlanLine) -> String {
        let path: String = line.path ?? "-"
        if let cause = line.refused { return path + " !" + cause.rawValue }
        return path + " " + (line.reason ?? "?")
    }

    /// What is no longer at the path that was named stays, wherever it went, and whatever is at that path now.
    @Test func whatHasMovedStays() throws {
        try withVolume { live in
            for path in ["tmp/d", "tmp/e"] { try live.makeDirectory(path) }
            for path in ["tmp/d/a", "tmp/d/b", "tmp/e/c", "tmp/f"] { try live.make(path, blocks: 1) }
            let paths = [bytes("tmp/d"), bytes("tmp/e"), bytes("tmp/f")]
            let selection = try live.volume.select(.paths(paths))
            try live.rename("tmp/d/a", "Library/Caches/kept")
            try live.rename("tmp/e", "Library/Caches/e")
            try live.rename("tmp/f", "tmp/g")
            try live.make("tmp/f", blocks: 2)
            let refused = ["tmp/d/a !noEntry", "tmp/e/c !noEntry", "tmp/f !noEntry"]
            let plan = live.volume.plan(selection)
            #expect(plan.purged.map(words) == ["tmp/d/b command"])
            #expect(plan.refused.map(words) == refused)
            let answer = live.volume.purge(selection, pid: LiveVolume.pid)
            #expect(answer.purged.map(words) == ["tmp/d/b command"])
            #expect(answer.refused.map(words) == refused)
            for path in ["Library/Caches/kept", "Library/Caches/e/c", "tmp/g", "tmp/f"] { #expect(live.exists(path)) }
            #expect(live.used == 5)
        }
    }

    /// By the system's rules in a part of the container: what has left that stays.
    @Test func whatHasLeftThePartStays() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/d")
            for path in ["tmp/d/a", "tmp/d/b"] { try live.make(path, blocks: 1) }
            for path in ["tmp/d/x", "tmp/d/y"] { try live.make(path, blocks: 0) }
            let selection = try live.volume.select(.all, below: bytes("tmp/d"))
            try live.rename("tmp/d/a", "tmp/a")
            try live.rename("tmp/d/x", "tmp/x")
            let answer = live.volume.purge(selection, pid: LiveVolume.pid)
            #expect(answer.purged.map(words) == ["tmp/d/b temporary", "tmp/d/y command"])
            #expect(answer.refused.isEmpty)
            #expect(live.exists("tmp/a") && live.exists("tmp/x"))
        }
    }

    /// While the purge waits for it too.
    @Test func whatMovesMeanwhileStays() throws {
        try withVolume { live in
            for path in ["tmp/held", "tmp/free"] { try live.make(path, blocks: 1) }
            let volume = live.volume
            let tmp = try live.node("tmp")
            let found = try volume.heldEntry(Name("held"), in: tmp)
            let node = try #require(found)
            let request = Array("paths\0tmp/held\0tmp/free\0".utf8)
            let handle = ControlHandle(file: .storageReclaim, reader: nil)
            let purging = Workers.start(1) { _ in
                do { try volume.controlCommand(handle, request, pid: LiveVolume.pid) } catch {}
            }
            try eventually("the other") { !live.exists("tmp/free") }
            try live.rename("tmp/held", "Library/Caches/kept")
            volume.unhold(node)
            try purging.join(within: 20)
            #expect(live.exists("Library/Caches/kept"))
            let text = String(decoding: volume.readControl(handle, offset: 0, limit: .max), as: UTF8.self)
            #expect(text.contains("noEntry") && text.contains("tmp/held"))
        }
    }
}
