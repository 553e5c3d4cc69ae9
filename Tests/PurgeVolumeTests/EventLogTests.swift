import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeVolume

struct EventLogTests {
    private func withLog(_ body: (EventLog, String) throws -> Void) throws {
        try withStore { path in
            let store = try Store.open(path, creating: true)
            try body(EventLog(journal: try Journal.open(in: store)), path)
        }
    }
    private func event(_ reason: String) -> Event { Event(type: .mark, reason: reason) }
    private func refused(_ path: String) -> Event { Event(type: .refused, path: path) }
    private func lines(_ bytes: [UInt8]?) throws -> [StoreEvent] {
        try StoreEvent.lines(String(decoding: bytes ?? [], as: UTF8.self))
    }
    private func journal(_ path: String) throws -> [Event] { try JournalReader(storePath: path).events() }

    @Test func numbersRiseByOne() throws {
        try withLog { (log, path) throws in
            log.append([event("a"), event("b")])
            log.append([])
            log.append([event("c")])
            #expect(try journal(path).isEmpty)
            log.flush()
            log.flush()
            #expect(try journal(path).map(\.seq) == [1, 2, 3])
            #expect(try journal(path).map(\.reason) == ["a", "b", "c"])
            #expect(try journal(path).allSatisfy { $0.time.utf8.count == 24 && $0.time.hasSuffix("Z") })
        }
    }

    @Test func theNextLogGoesOnFromTheJournal() throws {
        try withStore { path in
            let store = try Store.open(path, creating: true)
            let journal = try Journal.open(in: store)
            let first = EventLog(journal: journal)
            first.append([event("a"), event("b")])
            first.flush()
            let second = EventLog(journal: journal)
            second.append([event("c")])
            second.flush()
            #expect(try self.journal(path).map(\.seq) == [1, 2, 3])
        }
    }

    @Test func aRefusalOfOneFileIsToldOnce() throws {
        try withLog { (log, path) throws in
            log.append([refused("a"), refused("a")])
            log.append([refused("a"), event("x"), refused("a")])
            log.append([refused("b"), refused("a")])
            log.flush()
            #expect(try journal(path).map { $0.path ?? $0.reason } == ["a", "x", "b", "a"])
            #expect(try journal(path).map(\.seq) == [1, 2, 3, 4])
        }
    }

    @Test func aRefusalASecondLaterIsToldAgain() throws {
        try withLog { (log, path) throws in
            log.append([refused("a")])
            try eventually(within: 5, "a second refusal") {
                log.append([refused("a")])
                log.flush()
                return try journal(path).count == 2
            }
        }
    }

    @Test func whatCannotBeWrittenIsKept() throws {
        try withLog { (log, path) throws in
            func rename(_ old: String, _ new: String) throws {
                try Program.run("sqlite3", "\(path)/journal.sqlite", "ALTER TABLE \(old) RENAME TO \(new)").succeeded()
            }
            #expect(log.failure == nil)
            try rename("events", "hidden")
            log.append([event("a")])
            log.flush()
            #expect(log.failure != nil)
            log.append([event("b")])
            log.flush()
            try rename("hidden", "events")
            log.append([event("c")])
            log.flush()
            #expect(try journal(path).map(\.reason) == ["a", "b", "c"])
        }
    }

    @Test func aReaderGetsWhatComesAfterIt() throws {
        try withLog { (log, _) throws in
            let reader = PurgeVolume.EventReader()
            let woken = Tally()
            reader.onChange { woken.add() }
            log.append([event("before")])
            log.add(reader)
            #expect(reader.take(limit: 100) == nil && !reader.isReadable)
            log.append([event("a"), event("b")])
            #expect(woken.value == 1 && reader.isReadable)
            let found = try lines(reader.take(limit: .max))
            #expect(found.map(\.reason) == ["a", "b"])
            #expect(found.map(\.seq) == [2, 3])
            #expect(reader.take(limit: 100) == nil && !reader.isReadable)
        }
    }

    @Test func smallReadsGetTheSameBytes() throws {
        try withLog { (log, _) throws in
            let (whole, pieces) = (PurgeVolume.EventReader(), PurgeVolume.EventReader())
            log.add(whole)
            log.add(pieces)
            log.append((0..<20).map { event("\($0)") })
            var bytes: [UInt8] = []
            while let piece = pieces.take(limit: 7) {
                #expect((1...7).contains(piece.count))
                bytes += piece
            }
            #expect(bytes == whole.take(limit: .max))
        }
    }

    /// At 1 MiB a reader loses events, and is told how many once it reads again.
    @Test func aReaderThatIsTooSlowIsTold() throws {
        try withLog { (log, _) throws in
            let reader = PurgeVolume.EventReader()
            log.add(reader)
            let reason = String(repeating: "x", count: 1000)
            let batches = 1200
            for _ in 0..<batches { log.append([event(reason), event("short")]) }
            let kept = try #require(reader.take(limit: .max))
            #expect(kept.count <= 1 << 20 && kept.count > (1 << 20) - 2500)
            let before = try lines(kept)
            #expect(before.map(\.seq) == (1...Int64(before.count)).map { $0 })
            let told = try #require(reader.take(limit: .max))
            let text = String(decoding: told, as: UTF8.self)
            #expect(text.contains("\"type\":\"dropped\",\"events\":\(2 * batches - before.count)}\n"))
            #expect(try lines(told).map(\.type) == ["dropped"])
            #expect(reader.take(limit: 100) == nil)
            log.append([event("after")])
            #expect(try lines(reader.take(limit: .max)).map(\.seq) == [Int64(2 * batches + 1)])
        }
    }

    /// The record stands where the events are missing: before what comes later.
    @Test func droppedComesBeforeWhatFollows() throws {
        try withLog { (log, _) throws in
            let reader = PurgeVolume.EventReader()
            log.add(reader)
            log.append([event("first")])
            log.append((0..<2000).map { _ in event(String(repeating: "x", count: 1000)) })
            log.append([event("last")])
            #expect(try lines(reader.take(limit: .max)).map(\.type) == ["mark", "dropped", "mark"])
        }
    }

    @Test func theEndIsAnEmptyRead() throws {
        try withLog { (log, _) throws in
            let (first, second) = (PurgeVolume.EventReader(), PurgeVolume.EventReader())
            let woken = Tally()
            second.onChange { woken.add() }
            log.add(first)
            log.add(second)
            log.append([event("a")])
            log.remove(first)
            log.append([event("b")])
            #expect(try lines(first.take(limit: .max)).map(\.reason) == ["a"])
            #expect(first.take(limit: 10) == [])
            log.endReaders()
            #expect(woken.value == 3 && second.isReadable)
            #expect(try lines(second.take(limit: .max)).map(\.reason) == ["a", "b"])
            #expect(second.take(limit: 10) == [] && second.isReadable)
            log.append([event("c")])
            #expect(second.take(limit: 10) == [])
        }
    }
}
