import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Purges of the files that a command names, or that lie in the part of the container it names.
struct ChosenPurgeTests {
    /// A path is looked up from the root under the lock, so files in deep folders are judged a few at a time.
    @Test func longPathsAreJudgedInSmallParts() {
        func files(_ count: Int, pathBytes: Int) -> [FoundFile] {
            (0..<count).map { _ in
                FoundFile(
                    Node(inode: 1, kind: .regular, name: Name("f")),
                    [UInt8](repeating: UInt8(ascii: "a"), count: pathBytes))
            }
        }
        #expect(files(0, pathBytes: 10).parts(ofAtMost: 4).isEmpty)
        #expect(files(10, pathBytes: 10).parts(ofAtMost: 4).map(\.count) == [4, 4, 2])
        #expect(files(8, pathBytes: 10).parts(ofAtMost: 4).map(\.count) == [4, 4])
        #expect(files(7, pathBytes: 30_000).parts(ofAtMost: 4).map(\.count) == [3, 3, 1])
        #expect(files(3, pathBytes: 1 << 20).parts(ofAtMost: 4).map(\.count) == [1, 1, 1])
        let parts = files(1000, pathBytes: 100).parts(ofAtMost: 512)
        #expect(parts.map(\.startIndex) == [0, 512] && parts.last?.endIndex == 1000)
    }

    private func bytes(_ path: String) -> [UInt8] { Array(path.utf8) }

    /// Returns `path reason` for a purged file, and `path !cause` for a refused one.
    private func words(_ line: PlanLine) -> String {
        let path: String = line.path ?? "-"
        if let cause = line.refused {
            return path + " !" + cause.rawValue + (line.tombstone == true ? " (emptying)" : "")
        }
        return path + " " + (line.reason ?? "?")
    }

    /// Writes a request, and returns the outcome for each file. With `isShort` the write must fail with EAGAIN, because the
    /// purge freed less than asked for, or refused a file.
    private func ask(
        _ live: LiveVolume, _ text: String, _ file: ControlFile = .storageReclaim, isShort: Bool = false
    ) throws -> [String] {
        let handle = ControlHandle(file: file, reader: nil)
        let request = bytes(text)
        let outcome = Result { () throws(Errno) in
            try live.volume.controlFiles.write(handle, request, pid: LiveVolume.tid)
        }
        if case .failure(let error) = outcome {
            guard error == .tryAgain else { throw error }
            #expect(isShort, "\(text)")
        } else {
            #expect(!isShort, "\(text)")
        }
        let answer = String(decoding: live.volume.controlFiles.read(handle, offset: 0, limit: .max), as: UTF8.self)
        let lines: [PlanLine] = try answer.split(separator: "\n").map { line in
            try JSONText.decode(PlanLine.self, from: String(line))
        }
        return lines.map(words)
    }

    private func makeFiles(_ live: LiveVolume) throws {
        for path in ["tmp/d", "tmp/d/e", "Documents/p"] { try live.makeDirectory(path) }
        for path in ["tmp/a", "tmp/d/b", "tmp/d/e/c", "Library/Caches/x", "Documents/kept", "Documents/p/marked"] {
            try live.make(path, blocks: 1)
        }
        try live.make("tmp/empty", blocks: 0)
        try live.symlink("tmp/d/link")
        try live.mark("Documents/p/marked", "high")
    }

    /// The files of `makeFiles` that may be purged, each with the reason of its rule.
    private static let reasons = [
        "tmp/a": "temporary", "tmp/d/b": "temporary", "tmp/d/e/c": "temporary", "Library/Caches/x": "caches",
        "Documents/p/marked": "purgeable", "tmp/empty": "command", "tmp/d/link": "command",
    ]

    struct Request: Sendable {
        let text: String
        let purged: [String]
        var refused: [String] = []
    }
    static let requests: [Request] = [
        Request(text: "paths\0tmp/a\0", purged: ["tmp/a"]),
        Request(text: "paths\0tmp/empty", purged: ["tmp/empty"]),
        Request(text: "paths\0tmp/d", purged: ["tmp/d/b", "tmp/d/e/c", "tmp/d/link"]),
        Request(
            text: "paths\0tmp/d/e/c\0tmp/d\0tmp/a\0", purged: ["tmp/d/e/c", "tmp/d/b", "tmp/d/link", "tmp/a"]),
        Request(text: "paths\0Documents/p/marked", purged: ["Documents/p/marked"]),
        Request(
            text: "paths\0Documents\0tmp/a\0", purged: ["Documents/p/marked", "tmp/a"],
            refused: ["Documents/kept !notPurgeable"]),
        Request(
            text: "paths\0tmp/none\0tmp/a/b\0tmp/a\0.purgefs/storage.total", purged: ["tmp/a"],
            refused: ["tmp/none !noEntry", "tmp/a/b !noEntry", ".purgefs/storage.total !noEntry"]),
        Request(text: "globs\0tmp/*", purged: ["tmp/a", "tmp/d/b", "tmp/d/e/c", "tmp/d/link", "tmp/empty"]),
        Request(text: "globs\0*/e", purged: ["tmp/d/e/c"]),
        Request(
            text: "globs\0*k*", purged: ["Documents/p/marked", "tmp/d/link"],
            refused: ["Documents/kept !notPurgeable"]),
        Request(text: "globs\0*/[abx]\0", purged: ["Library/Caches/x", "tmp/a", "tmp/d/b"]),
    ]
    /// A request purges exactly the named files, each with the reason of its rule, and a dry run lists the same.
    @Test(arguments: requests) func exactlyWhatIsNamed(request: Request) throws {
        try withVolume { live in
            try makeFiles(live)
            let reasons = request.purged.map { Self.reasons[$0] ?? "none" }
            let expected: [String] = zip(request.purged, reasons).map { $0 + " " + $1 } + request.refused
            let planned = try ask(live, request.text, .storagePlan)
            #expect(planned == expected)
            let before = try live.events(.purge)
            #expect(before.isEmpty)
            let told = try ask(live, request.text, isShort: !request.refused.isEmpty)
            #expect(told == expected)
            let events = try live.events(.purge)
            #expect(events.map(\.path) == request.purged)
            #expect(events.map(\.reason) == reasons)
            for event in events {
                #expect(event.trigger == .command)
                #expect(event.pid == LiveVolume.tid)
            }
            for path in request.purged { #expect(!live.exists(path)) }
            #expect(live.exists("tmp/d/e"), "folders stay")
            let scanned = try live.scannedBlocks()
            #expect(scanned == live.used)
        }
    }

    static let parts: [Request] = [
        Request(text: "all\0tmp/d", purged: ["tmp/d/b temporary", "tmp/d/e/c temporary", "tmp/d/link command"]),
        Request(text: "all\0tmp/a", purged: ["tmp/a temporary"]),
        Request(text: "all\0tmp/empty", purged: ["tmp/empty command"]),
        Request(text: "all\0Documents", purged: ["Documents/p/marked purgeable"]),
        Request(text: "all\0Documents/kept", purged: []),
        Request(text: "caches\0tmp", purged: []),
        Request(text: "caches\0Library", purged: ["Library/Caches/x caches"]),
        Request(text: "tmp\0tmp/d/e", purged: ["tmp/d/e/c temporary"]),
        Request(text: "4096\0tmp/d", purged: ["tmp/d/b temporary"]),
        Request(text: "1\0Documents", purged: ["Documents/p/marked purgeable"]),
    ]
    /// A purge by the system's rules in a part of the container takes nothing elsewhere, not even others.purgeable.
    @Test(arguments: parts) func onlyWhatLiesThere(request: Request) throws {
        try withVolume { live in
            try live.command(.storageOthers, "40K")
            try live.command(.storageOthersPurgeable, "20K")
            try makeFiles(live)
            let planned = try ask(live, request.text, .storagePlan)
            #expect(planned == request.purged)
            let told = try ask(live, request.text)
            #expect(told == request.purged)
            let events: [String] = try live.events(.purge).map { ($0.path ?? "-") + " " + ($0.reason ?? "-") }
            #expect(events == request.purged)
            let others = try live.bytes(.storageOthersPurgeable)
            #expect(others == 20480)
        }
    }

    @Test func lessThanASizeInAPart() throws {
        try withVolume { live in
            try makeFiles(live)
            let folder = try ask(live, "12K\0tmp/d", isShort: true)
            #expect(folder == ["tmp/d/b temporary", "tmp/d/e/c temporary"])
            let file = try ask(live, "8K\0tmp/a", isShort: true)
            #expect(file == ["tmp/a temporary"])
            #expect(live.exists("Library/Caches/x"))
        }
    }

    /// Each refusal names its cause, and the refused files stay.
    @Test func refusedByName() throws {
        try withVolume { live in
            try live.make("tmp/several", blocks: 1)
            try live.link("tmp/several", "tmp/other")
            try live.make("tmp/open", blocks: 1)
            let handle = try live.open("tmp/open", O_RDONLY)
            defer { live.volume.close(handle) }
            let text = "paths\0tmp/several\0tmp/other\0tmp/open"
            let expected = ["tmp/several !severalNames", "tmp/other !severalNames", "tmp/open !open"]
            let planned = try ask(live, text, .storagePlan)
            #expect(planned == expected)
            let told = try ask(live, text, isShort: true)
            #expect(told == expected)
            #expect(live.used == 2)
        }
    }

    /// A file that could not be removed is tried again when a command names it.
    @Test(.needsImmutableFiles) func whatTheStoreKeeps() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/d")
            for path in ["tmp/d/stuck", "tmp/free"] { try live.make(path, blocks: 1) }
            let first = try Immutable.with(live.stored("tmp/d")) {
                try ask(live, "paths\0tmp/d/stuck\0tmp/free", isShort: true)
            }
            #expect(first == ["tmp/free temporary", "tmp/d/stuck !failed"])
            #expect(live.used == 1)
            let second = try ask(live, "paths\0tmp/d/stuck")
            #expect(second == ["tmp/d/stuck temporary"])
            let scanned = try live.scannedBlocks()
            #expect(scanned == 0)
        }
    }

    /// A file that the store refuses to truncate stays charged, and the answer names it as failed. The next command that names
    /// it tries again.
    @Test(.needsImmutableFiles) func whatTheStoreDoesNotEmpty() throws {
        try withVolume { live in
            try live.makeDirectory("Library/Caches/d")
            try live.set("purgeTombstone", of: "Library/Caches/d", to: "1")
            try live.make("Library/Caches/d/stuck", blocks: 1)
            let first = try Immutable.with(live.stored("Library/Caches/d/stuck")) {
                try ask(live, "paths\0Library/Caches/d/stuck", isShort: true)
            }
            #expect(first == ["Library/Caches/d/stuck !failed (emptying)"])
            #expect(live.used == 1)
            let second = try ask(live, "paths\0Library/Caches/d/stuck")
            #expect(second == ["Library/Caches/d/stuck caches"])
            #expect(live.used == 0)
        }
    }

    @Test func waitsForWhatIsHeld() throws {
        try withVolume { live in
            for path in ["tmp/held", "tmp/free"] { try live.make(path, blocks: 1) }
            let volume = live.volume
            let tmp = try live.node("tmp")
            let found = try volume.lookups.heldEntry(Name("held"), in: tmp)
            let node = try #require(found)
            let request = bytes("paths\0tmp/held\0tmp/free")
            let handle = ControlHandle(file: .storageReclaim, reader: nil)
            let isDone = Tally()
            let purging = Workers.start(1) { _ in
                try volume.controlFiles.write(handle, request, pid: LiveVolume.tid)
                isDone.add()
            }
            try eventually("the other") { !live.exists("tmp/free") }
            #expect(isDone.value == 0)
            volume.access.unhold(node)
            try purging.join(within: 20)
            #expect(!live.exists("tmp/held"))
        }
    }

    @Test func aPatternThatIsLikeNothing() throws {
        try withVolume { live in
            try makeFiles(live)
            #expect(throws: Errno.noEntry) { try live.command(.storageReclaim, "globs\0*.none") }
            #expect(throws: Errno.noEntry) { try live.command(.storagePlan, "globs\0TMP/*\0") }
            #expect(throws: Errno.noEntry) { try live.command(.storageReclaim, "all\0no") }
            let events = try live.events(.purge)
            #expect(events.isEmpty)
        }
    }

    /// Folders stay, so a pattern that matches only folders purges nothing, but is no error.
    @Test func aPatternThatMatchesOnlyFoldersWithoutFiles() throws {
        try withVolume { live in
            for path in ["tmp/d", "tmp/d/e"] { try live.makeDirectory(path) }
            for file in [ControlFile.storagePlan, .storageReclaim] {
                #expect(try ask(live, "globs\0tmp/*\0*.none\0", file).isEmpty)
                #expect(throws: Errno.noEntry) { try live.command(file, "globs\0tmp/f*") }
            }
            #expect(live.exists("tmp/d/e"))
        }
    }

    /// A request that the kernel would pass on in pieces is refused, and so is a request with an empty path.
    @Test func aRequestThatIsTooLong() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 1)
            let text = "paths\0tmp/a\0" + String(repeating: "tmp/b\0", count: 50_000)
            #expect(throws: Errno.argListTooLong) { try live.command(.storageReclaim, text) }
            #expect(throws: Errno.invalid) { try live.command(.storageReclaim, "paths\0tmp/a\0\0") }
            #expect(live.exists("tmp/a"))
        }
    }

    /// A readable handle returns the purged files and the bytes taken from others.
    @Test func everyCommandAnswers() throws {
        try withVolume { live in
            try live.command(.storageOthers, "8K")
            try live.command(.storageOthersPurgeable, "4K")
            try makeFiles(live)
            let size = try ask(live, "8K")
            #expect(size == ["- others", "tmp/a temporary"])
            let tier = try ask(live, "tmp").sorted()
            #expect(tier == ["tmp/d/b temporary", "tmp/d/e/c temporary", "tmp/d/link command", "tmp/empty command"])
            let deaf = ControlHandle(file: .storageReclaim, reader: nil, isReadable: false)
            try live.volume.controlFiles.write(deaf, bytes("all"), pid: 1)
            #expect(deaf.content.isEmpty)
            #expect(live.used == 1)
        }
    }

    /// Files go in the order in which they are named, over as many requests as their paths need.
    @Test func thousandsOfPaths() throws {
        func large(_ settings: inout Device) {
            settings.total = ByteCount(blocks: 20_000)
            settings.thresholds = .off
        }
        try withVolume(settings: large) { live in
            let folder = "Library/Caches/" + String(repeating: "n", count: 200)
            try live.makeDirectory(folder)
            let paths: [String] = (0..<2000).map { "\(folder)/\($0)" }
            for path in paths { try live.make(path, blocks: 1) }
            try live.make("Library/Caches/other", blocks: 1)
            let requests = PurgeRequest.requests(for: paths.map { bytes($0) })
            #expect(requests.count == 2)
            for request in requests {
                let handle = ControlHandle(file: .storageReclaim, reader: nil)
                try live.volume.controlFiles.write(handle, request.bytes, pid: LiveVolume.tid)
            }
            let gone = try live.events(.purge).compactMap(\.path)
            #expect(gone == paths)
            #expect(live.used == 1)
            #expect(live.exists("Library/Caches/other"))
        }
    }

    /// A file that has left the named path stays, wherever it is, and so does a new file at that path.
    @Test func whatHasMovedStays() throws {
        try withVolume { live in
            for path in ["tmp/d", "tmp/e"] { try live.makeDirectory(path) }
            for path in ["tmp/d/a", "tmp/d/b", "tmp/e/c", "tmp/f"] { try live.make(path, blocks: 1) }
            let paths = [bytes("tmp/d"), bytes("tmp/e"), bytes("tmp/f")]
            let selection = try live.volume.selections.select(.paths(paths))
            try live.rename("tmp/d/a", "Library/Caches/kept")
            try live.rename("tmp/e", "Library/Caches/e")
            try live.rename("tmp/f", "tmp/g")
            try live.make("tmp/f", blocks: 2)
            let refused = ["tmp/d/a !noEntry", "tmp/e/c !noEntry", "tmp/f !noEntry"]
            let plan = live.volume.selections.plan(selection)
            #expect(plan.purged.map(words) == ["tmp/d/b temporary"])
            #expect(plan.refused.map(words) == refused)
            let answer = live.volume.purgedNames.awaitingAnnouncements {
                live.volume.selections.purge(selection, tid: LiveVolume.tid, &$0)
            }
            #expect(answer.purged.map(words) == ["tmp/d/b temporary"])
            #expect(answer.refused.map(words) == refused)
            for path in ["Library/Caches/kept", "Library/Caches/e/c", "tmp/g", "tmp/f"] { #expect(live.exists(path)) }
            #expect(live.used == 5)
        }
    }

    /// A purge of a subtree by the system's rules skips files that were moved out of the subtree.
    @Test func whatHasLeftThePartStays() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/d")
            for path in ["tmp/d/a", "tmp/d/b"] { try live.make(path, blocks: 1) }
            for path in ["tmp/d/x", "tmp/d/y"] { try live.make(path, blocks: 0) }
            let selection = try live.volume.selections.select(.all, below: bytes("tmp/d"))
            try live.rename("tmp/d/a", "tmp/a")
            try live.rename("tmp/d/x", "tmp/x")
            let answer = live.volume.purgedNames.awaitingAnnouncements {
                live.volume.selections.purge(selection, tid: LiveVolume.tid, &$0)
            }
            #expect(answer.purged.map(words) == ["tmp/d/b temporary", "tmp/d/y command"])
            #expect(answer.refused.isEmpty)
            #expect(live.exists("tmp/a") && live.exists("tmp/x"))
        }
    }

    /// A file that is renamed while the purge waits for it is not purged.
    @Test func whatMovesMeanwhileStays() throws {
        try withVolume { live in
            for path in ["tmp/held", "tmp/free"] { try live.make(path, blocks: 1) }
            let volume = live.volume
            let tmp = try live.node("tmp")
            let found = try volume.lookups.heldEntry(Name("held"), in: tmp)
            let node = try #require(found)
            let request = Array("paths\0tmp/held\0tmp/free\0".utf8)
            let handle = ControlHandle(file: .storageReclaim, reader: nil)
            let purging = Workers.start(1) { _ in
                do { try volume.controlFiles.write(handle, request, pid: LiveVolume.tid) } catch {}
            }
            try eventually("the other") { !live.exists("tmp/free") }
            try live.rename("tmp/held", "Library/Caches/kept")
            volume.access.unhold(node)
            try purging.join(within: 20)
            #expect(live.exists("Library/Caches/kept"))
            let text = String(decoding: volume.controlFiles.read(handle, offset: 0, limit: .max), as: UTF8.self)
            #expect(text.contains("noEntry") && text.contains("tmp/held"))
        }
    }
}
