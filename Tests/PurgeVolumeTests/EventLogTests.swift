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
            #expect(try journal(path).map { $0.path ?? $0.reason } == ["a", "x", "b"])
            #expect(try journal(path).map(\.seq) == [1, 2, 3])
        }
    }

    @Test func aFullDiskDoesNotHideAFullDevice() throws {
        try withLog { (log, path) throws in
            log.append([Event(type: .hostFull, path: "a"), refused("a"), Event(type: .hostFull, path: "a")])
            log.flush()
            #expect(try journal(path).map(\.type) == [.hostFull, .refused])
        }
    }

    /// Two ways to write an accented letter are two names.
    @Test func refusalsOfEachName() throws {
        try withLog { (log, path) throws in
            let names = ["caf\u{E9}", "cafe\u{301}"]
            log.append((names + names).map { refused($0) })
            log.flush()
            #expect(try journal(path).map { Array(($0.path ?? "").utf8) } == names.map { Array($0.utf8) })
        }
    }

    /// The log remembers a bounded number of refused files, and records the refusals of further files as a number.
    @Test func refusalsOfVeryManyFilesAreToldAsANumber() throws {
        try withLog { (log, path) throws in
            let files = 50_000
            log.append((0..<files).map { refused("f\($0)") })
            log.flush()
            let told = try journal(path)
            let single = told.count { $0.path != nil }
            #expect(single >= RefusalLimit.files && single < files)
            let more = told.filter { $0.path == nil }.compactMap { $0.reason?.split(separator: " ").first }
            #expect(more.compactMap { Int($0) }.reduce(0, +) == files - single)
        }
    }

    /// The log records denials beyond a limit as a number, because the kernel may repeat a refused page fault without end.
    @Test func protectionDeniedVeryOftenIsToldAsANumber() throws {
        try withLog { (log, path) throws in
            let denials = 50_000
            for _ in 0..<denials / 100 {
                log.append((0..<100).map { _ in Event(type: .protectionDenied, path: "a", reason: "use") })
            }
            log.flush()
            let told = try journal(path)
            let single = told.count { $0.path != nil }
            #expect(single >= RefusalLimit.denials && single < denials)
            let more = told.filter { $0.path == nil }.compactMap { $0.reason?.split(separator: " ").first }
            #expect(more.compactMap { Int($0) }.reduce(0, +) == denials - single)
        }
    }

    @Test func aRefusalASecondLaterIsToldAgain() throws {
        try withLog { (log, path) throws in
            log.append([refused("a")])
            try eventually("a second refusal") {
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

    /// The log keeps a bounded number of events for a journal that cannot be written, and later records how many it dropped.
    @Test func aJournalThatCannotBeWrittenForLong() throws {
        try withLog { (log, path) throws in
            let limit = EventLog.unwrittenEvents
            try Program.run("sqlite3", "\(path)/journal.sqlite", "ALTER TABLE events RENAME TO hidden").succeeded()
            for _ in 0..<12 {
                log.append((0..<(limit / 10)).map { event("\($0)") })
                log.flush()
            }
            #expect(log.failure != nil)
            try Program.run("sqlite3", "\(path)/journal.sqlite", "ALTER TABLE hidden RENAME TO events").succeeded()
            log.flush()
            log.append([event("after")])
            log.flush()
            #expect(log.failure == nil)
            let kept = try journal(path)
            #expect(kept.count == limit + 2)
            #expect(kept[limit].type == .dropped && kept[limit].reason == "\(limit / 5) events")
            #expect(kept.last?.reason == "after")
            #expect(kept.last?.seq == Int64(limit + limit / 5 + 2))
        }
    }

    @Test func longTextsAreBoundedByTheirBytes() throws {
        try withLog { (log, path) throws in
            try Program.run("sqlite3", "\(path)/journal.sqlite", "ALTER TABLE events RENAME TO hidden").succeeded()
            let text = String(repeating: "x", count: 1 << 20)
            for _ in 0..<3000 { log.append([event(text)]) }
            try Program.run("sqlite3", "\(path)/journal.sqlite", "ALTER TABLE hidden RENAME TO events").succeeded()
            log.flush()
            let kept = try journal(path)
            #expect(kept.last?.type == .dropped)
            #expect(
                kept.reduce(0) { $0 + ($1.reason?.utf8.count ?? 0) } <= EventLog.unwrittenBytes + EventLog.longestText)
        }
    }

    /// Long paths of skipped files are shortened, because a string that SQLite rejects would look like damage.
    @Test func longPathsOfWhatWasPassedOver() throws {
        try withLog { (log, path) throws in
            let control = String(repeating: "\u{1}", count: 300_000)
            let passed = (0..<8).map { PassedOver(path: "\($0)\(control)", reason: .open) }
            log.append([Event(type: .purge, path: "a", passedOver: passed)])
            log.flush()
            #expect(log.failure == nil)
            let kept = try #require(try journal(path).first?.passedOver)
            #expect(kept.map { $0.path.first } == Array("01234567"))
            #expect(kept.allSatisfy { $0.path.utf8.count == EventLog.longestText + 3 && $0.path.hasSuffix("...") })
        }
    }

    @Test func aReaderGetsWhatComesAfterIt() throws {
        try withLog { (log, _) throws in
            log.append([event("before")])
            let reader = log.addReader()
            let woken = Tally()
            reader.onChange { woken.add() }
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
            let (whole, pieces) = (log.addReader(), log.addReader())
            log.append((0..<20).map { event("\($0)") })
            var bytes: [UInt8] = []
            while let piece = pieces.take(limit: 7) {
                #expect((1...7).contains(piece.count))
                bytes += piece
            }
            #expect(bytes == whole.take(limit: .max))
        }
    }

    /// A reader that is 1 MiB behind loses the oldest events, and learns how many.
    @Test func aReaderThatIsTooSlowIsTold() throws {
        try withLog { (log, _) throws in
            let reader = log.addReader()
            let reason = String(repeating: "x", count: 1000)
            let batches = 1200
            for _ in 0..<batches { log.append([event(reason), event("short")]) }
            let kept = try #require(reader.take(limit: .max))
            #expect(kept.count < (1 << 20) + 100 && kept.count > 900_000)
            let found = try lines(kept)
            let missed = 2 * batches - (found.count - 1)
            #expect(missed > 0 && found.first?.type == "dropped")
            #expect(found.first?.seq == Int64(missed) && found.first?.reason == "\(missed) events")
            #expect(found.dropFirst().map(\.seq) == (Int64(missed + 1)...Int64(2 * batches)).map { $0 })
            #expect(reader.take(limit: 100) == nil)
            log.append([event("after")])
            #expect(try lines(reader.take(limit: .max)).map(\.seq) == [Int64(2 * batches + 1)])
        }
    }

    /// A reader finishes the line that it has begun; then a `dropped` record stands for the missing events.
    @Test func droppedStandsBetweenWholeLines() throws {
        try withLog { (log, _) throws in
            let reader = log.addReader()
            log.append([event("first"), event("second")])
            let begin = try #require(reader.take(limit: 20))
            log.append((0..<2000).map { _ in event(String(repeating: "x", count: 1000)) })
            log.append([event("last")])
            let found = try lines(begin + #require(reader.take(limit: .max)))
            #expect(found.first?.reason == "first" && found[1].type == "dropped" && found.last?.reason == "last")
            #expect(found.count { $0.type == "dropped" } == 1)
            #expect(found[1].seq == found[2].seq.map { $0 - 1 })
        }
    }

    /// A reader that is removed misses only events from before its removal.
    @Test func droppedAtTheEnd() throws {
        try withLog { (log, _) throws in
            let (reader, other) = (log.addReader(), log.addReader())
            log.append([event("first"), event("second")])
            log.remove(reader)
            log.append((0..<2000).map { _ in event(String(repeating: "x", count: 1000)) })
            let found = try lines(reader.take(limit: .max))
            #expect(found.map(\.type) == ["dropped"] && found.first?.seq == 2 && found.first?.reason == "2 events")
            #expect(reader.take(limit: .max) == [])
            log.remove(other)
        }
    }

    /// Events from before a reader was added do not count as missed.
    @Test func aLaterReaderMissesOnlyWhatCameAfterIt() throws {
        try withLog { (log, _) throws in
            log.append((0..<5).map { event("\($0)") })
            let reader = log.addReader()
            log.append((0..<2000).map { _ in event(String(repeating: "x", count: 1000)) })
            let found = try lines(reader.take(limit: .max))
            let missed = try #require(found.first?.seq) - 5
            #expect(found.first?.reason == "\(missed) events" && found[1].seq == 5 + missed + 1)
        }
    }

    /// All readers share the memory for unread events.
    @Test func readersThatNeverReadCostNothing() throws {
        try withLog { (log, _) throws in
            func memory() throws -> Int {
                let fields = Files.text("/proc/self/statm").split(separator: " ")
                return try #require(Int(fields[1])) * 4096
            }
            let before = try memory()
            let readers = (0..<400).map { _ in log.addReader() }
            for _ in 0..<20 {
                log.append((0..<256).map { _ in event(String(repeating: "x", count: 1000)) })
                log.flush()
            }
            #expect(try memory() - before < 150 << 20)
            #expect(readers.allSatisfy { $0.isReadable })
        }
    }

    @Test func theEndIsAnEmptyRead() throws {
        try withLog { (log, _) throws in
            let (first, second) = (log.addReader(), log.addReader())
            let woken = Tally()
            second.onChange { woken.add() }
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
