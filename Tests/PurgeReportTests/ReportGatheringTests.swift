import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeCommandLine
@testable import PurgeReport
@testable import PurgeContainers

struct ReportGatheringTests {
    /// A container that purges another file at each read of its status.
    private struct BusyControl: ControlEndpoint {
        let place: String
        let isMounted = false
        let warnings: [String] = []
        let journal: Journal

        func read(_ file: ControlFile) throws(Errno) -> String {
            do {
                var report = try ReportPageTests.status()
                (report.store, report.counters.purgedFiles) = (place, journal.lastSequence)
                try journal.append([Event(seq: journal.lastSequence + 1, time: "T", type: .purge, path: "tmp/a")])
                return JSONText.encode(report)
            } catch { throw .ioError }
        }

        func write(_ text: String, to file: ControlFile) throws(Errno) { throw .notSupported }
        func exchange(_ command: [UInt8], with file: ControlFile) throws(Errno) -> ControlAnswer { throw .notSupported }
        func cleanableFolder() throws(Errno) -> any CleanableFolder { throw .notSupported }
        func close() {}
    }

    /// Unreadable samples are not reported as missing, and a failure that occurs twice is reported once.
    @Test(arguments: [
        ("UPDATE samples SET pressure = 'nonsense'", "cannot be understood"),
        ("DROP INDEX events_whole", "events_whole is missing"),
    ]) func whatCannotBeRead(change: String, reason: String) throws {
        try Scratch.with("report") { scratch in
            let path = "\(scratch.path)/s"
            let store = try Store.open(path, creating: true)
            let journal = try Journal.open(in: store)
            try journal.append([Event(seq: 1, time: "2026-11-21T09:00:00.000Z", type: .mount)])
            let size = ByteCount(4096)
            journal.hold([
                StorageSample(
                    time: "2026-11-21T09:00:00.000Z", realTime: "2026-11-21T09:00:00.000Z", total: size, others: size,
                    othersPurgeable: size, used: size, temporary: size, caches: size, persistent: size,
                    pressure: .normal)
            ])
            try journal.writeHeld()
            journal.close()
            try Program.run("sqlite3", "\(path)/journal.sqlite", change).succeeded()
            var gathering = ReportGathering(.store(path))
            let content = gathering.gatherRemains(of: path, CommandFailure("it", path: path, "is gone", advice: ""))
            #expect(content.remarks.count == 2)
            #expect(content.remarks.last?.contains(reason) == true, "\(content.remarks)")
        }
    }

    /// The counters include every purge in the tables, even while purges continue.
    @Test func tablesBesideAStorm() throws {
        try Scratch.with("report") { scratch in
            let path = "\(scratch.path)/s"
            let journal = try Journal.open(in: try Store.open(path, creating: true))
            defer { journal.close() }
            let control = BusyControl(place: path, journal: journal)
            let (status, last) = try ReportGathering(.store(path)).snapshot(control)
            #expect(try #require(last) == status.counters.purgedFiles)
        }
    }
}
