import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// File times as an app sees them after an advance of the clock.
struct FileTimeTests {
    private static let day: Int64 = 86400
    private static let places = [
        "Documents/file", "Documents/folder", "Documents/link", "Documents/fifo", "Documents", "",
    ]

    /// Creates one entry of each kind.
    private func fill(_ live: LiveVolume) throws {
        try live.make("Documents/file", blocks: 1)
        try live.makeDirectory("Documents/folder")
        try live.symlink("Documents/link")
        try live.makeFIFO("Documents/fifo")
    }

    @Test func whatIsThereLooksOlder() throws {
        try withVolume { live in
            try fill(live)
            let before = try Self.places.map { try live.times($0) }
            try live.advance(days: 3)
            #expect(try Self.places.map { try live.times($0) } == before.map { $0.older(by: 3 * Self.day) })
            try live.advance(seconds: 1)
            #expect(try Self.places.map { try live.times($0) } == before.map { $0.older(by: 3 * Self.day + 1) })
        }
    }

    @Test func everyAnswerHasTheSameTimes() throws {
        try withVolume { live in
            try live.make("Documents/file", blocks: 1)
            let before = try live.times("Documents/file").modification
            try live.advance(days: 3)
            let aged = before.earlier(by: 3 * Self.day)
            let folder = try live.node("Documents")
            let found = try live.volume.lookup("file", in: folder, caller: LiveVolume.caller)
            #expect(FileTime(found.attributes.status.st_mtim) == aged)
            live.volume.forget(found.node, count: 1)
            let handle = try live.volume.directories.open(folder)
            var listed: FileTime?
            try live.volume.directories.read(handle, offset: 0, withAttributes: true) { entry in
                if String(cString: entry.name) == "file" {
                    listed = (entry.entry?.attributes.status.st_mtim).map { FileTime($0) }
                }
                if let node = entry.entry?.node { live.volume.forget(node, count: 1) }
                return true
            }
            #expect(listed == aged)
            let date = try live.volume.extendedAttributes.value(
                of: found.node, named: "user.purgefs.creationDate", caller: LiveVolume.caller)
            let birth = try #require(try live.times("Documents/file").birth)
            #expect(String(decoding: date, as: UTF8.self) == birth.iso8601)
        }
    }

    @Test func whatIsNewLooksNew() throws {
        try withVolume { live in
            try fill(live)
            try live.advance(days: 3)
            let moment = LiveVolume.now.earlier(by: 1)
            try live.make("Documents/new", blocks: 1)
            let new = try live.times("Documents/new")
            #expect(new.modification > moment && new.change > moment && new.access > moment)
            #expect(try #require(new.birth) > Instant(nanoseconds: System.now() - 1_000_000_000))
            // A chmod of an old file updates its change time, but not its other times.
            let old = try live.times("Documents/file")
            try live.change(try live.node("Documents/file"), nil) { $0.mode = 0o600 }
            let changed = try live.times("Documents/file")
            #expect(changed.change > moment && changed.modification == old.modification && changed.birth == old.birth)
            let handle = try live.open("Documents/file")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 0, 10)
            #expect(try live.times("Documents/file").modification > moment)
        }
    }

    /// A file that is finished before the advance gets older, and a file that is begun after it does not. Both may have the
    /// same stamp, because the clock of a file system's stamps advances only every few milliseconds.
    @Test func noFileIsOnTheWrongSide() throws {
        try withVolume(settings: { $0.total = ByteCount(blocks: 100_000) }) { live in
            var expected: [LiveVolume.Times] = []
            for round in 0..<40 {
                let first = expected.count
                for number in 0..<50 {
                    let path = "tmp/\(round)-\(number)"
                    let handle = try live.create(path)
                    if number % 2 == 0 { try live.write(handle, at: 0, 1) }
                    live.volume.close(handle)
                    let times = try live.times(path)
                    #expect(times.modification == (try live.storedTimes(path).modification))
                    expected.append(times)
                }
                try live.advance(seconds: 100)
                expected = expected.map { $0.older(by: 100) }
                let seen = try (first..<expected.count).map { try live.times("tmp/\($0 / 50)-\($0 % 50)") }
                #expect(seen == Array(expected[first...]), "round \(round)")
            }
            let all = try expected.indices.map { try live.times("tmp/\($0 / 50)-\($0 % 50)") }
            #expect(all == expected)
        }
    }

    /// The kernel accepts replies to these requests even if it has been told to forget the attributes in the meantime.
    @Test func repliesThatMayArriveLateAreNotCachedAfterAnAdvance() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            let node = try live.node("tmp/f")
            func cached(_ round: Int) throws -> [Bool] {
                var change = AttributeChange(caller: LiveVolume.caller)
                change.mode = 0o600
                let changed = try live.announcing { (debt) throws(Errno) in
                    try live.volume.setAttributes(of: node, handle: nil, change, debt: &debt)
                }
                let (parent, name) = try live.place("tmp/link\(round)")
                let linked = try live.volume.link(node, as: name, in: parent, caller: LiveVolume.caller)
                let (_, new) = try live.place("tmp/new\(round)")
                let (created, handle) = try live.volume.create(
                    new, in: parent, mode: 0o600, flags: O_RDWR, caller: LiveVolume.caller, offersPassthrough: false)
                let (_, folder) = try live.place("tmp/folder\(round)")
                let made = try live.volume.makeDirectory(folder, in: parent, mode: 0o700, caller: LiveVolume.caller)
                for entry in [linked, created, made] { live.volume.forget(entry.node, count: 1) }
                live.volume.close(handle)
                return [changed.mayBeCached] + [linked, created, made].map(\.attributes.mayBeCached)
            }
            #expect(try cached(1) == [true, true, true, true])
            try live.advance(days: 1)
            #expect(try cached(2) == [false, false, false, false])
            #expect(try live.volume.attributes(of: node).mayBeCached)
        }
    }

    /// The kernel may cache the attributes of open files without a name, because an advance of the clock can make it forget
    /// them. It may not cache the attributes of other entries without a name, because an advance does not find such entries.
    @Test func whatHasNoNameIsCachedWhileItIsOpen() throws {
        let kernel = FakeKernel()
        try withVolume(port: kernel) { live in
            let (handle, again) = (try live.create("tmp/f"), try live.open("tmp/f"))
            let temporary = try live.makeTemporary("tmp")
            try live.makeDirectory("tmp/d")
            let folder = try live.volume.lookup("d", in: try live.node("tmp"), caller: LiveVolume.caller).node
            #expect(try live.volume.attributes(of: handle.node).mayBeCached)
            #expect(try live.volume.attributes(of: folder).mayBeCached)
            try live.unlink("tmp/f")
            try live.removeDirectory("tmp/d")
            let before = try live.times(of: handle.node)
            for node in [handle.node, temporary.node] {
                #expect(try live.volume.attributes(of: node).mayBeCached)
            }
            #expect(try !live.volume.attributes(of: folder).mayBeCached)
            try live.advance(days: 1)
            #expect(try live.times(of: handle.node) == before.older(by: Self.day))
            // The kernel forgets attributes before the advance is saved, and again afterwards.
            let told = kernel.forgotten
            for node in [handle.node, temporary.node] {
                #expect(told.filter { $0 == node.address }.count == 2)
            }
            for open in [handle, again, temporary] { live.volume.close(open) }
            live.volume.forget(folder, count: 1)
        }
    }

    @Test func agesAreKept() throws {
        try withVolume { live in
            try fill(live)
            let before = try Self.places.map { try live.times($0) }
            try live.advance(days: 3)
            try live.make("Documents/new", blocks: 1)
            let new = try live.times("Documents/new")
            try live.advance(days: 4)
            #expect(live.volume.end() == nil)
            let next = try LiveVolume(after: live)
            #expect(try next.times("Documents/new") == new.older(by: 4 * Self.day))
            let aged = try ["Documents/file", "Documents/folder", "Documents/link", "Documents/fifo"].map {
                try next.times($0)
            }
            #expect(aged == before.prefix(4).map { $0.older(by: 7 * Self.day) })
            #expect(next.volume.end() == nil)
        }
    }

    /// Control files do not age, because they are not the app's.
    @Test func controlFilesDoNotAge() throws {
        try withVolume(settings: { $0.clock = 1000 * Self.day }) { live in
            let control = try live.node(".purgefs")
            let before = try live.times(of: control)
            #expect(before.modification <= LiveVolume.now && before.modification > LiveVolume.ago(days: 1))
            try live.advance(days: 3)
            #expect(try live.times(of: control) == before)
        }
    }

    /// An advance leaves the stamps in the store unchanged.
    @Test func theStoreKeepsItsStamps() throws {
        try withVolume { live in
            try fill(live)
            let paths = Self.places.filter { !$0.isEmpty }
            let before = try paths.map { try live.storedTimes($0) }
            try live.advance(days: 3)
            #expect(try paths.map { try live.storedTimes($0) } == before)
        }
    }

    @Test func aRefusedAdvanceAgesNothing() throws {
        try withVolume { (live) throws in
            try live.make("tmp/f", blocks: 1)
            let before = try live.times("tmp/f")
            #expect(throws: Errno.invalid) { try live.advance(seconds: 1 << 33) }
            #expect(try live.times("tmp/f") == before)
            #expect(try live.volume.store.loadSettings().history.isEmpty)
        }
    }
}
