import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

struct CallingProcessesTests {
    private func name(of pid: pid_t) -> String { String(Files.text("/proc/\(pid)/comm").dropLast()) }

    @Test func aThreadBelongsToItsProcess() {
        let processes = CallingProcesses()
        for thread in [getpid(), System.threadID()] {
            let process = processes.process(ofThread: thread)
            #expect(process.pid == getpid() && process.name == name(of: getpid()))
        }
    }

    /// An answer is kept for a second, even after the thread has ended.
    @Test func isLookedUpOnceASecond() throws {
        let processes = CallingProcesses()
        let child = try Program.start(["sleep", "100"])
        try eventually("sleep") { name(of: child.pid) == "sleep" }
        #expect(processes.process(ofThread: child.pid, at: 0).name == "sleep")
        child.signal(SIGKILL)
        _ = try child.wait(within: 10)
        #expect(processes.process(ofThread: child.pid, at: 999_999_999).name == "sleep")
        let gone = processes.process(ofThread: child.pid, at: 1_000_000_000)
        #expect(gone.pid == child.pid && gone.name == nil)
    }

    /// Looks up far more threads than are remembered; none of them exists.
    @Test func whatIsRememberedIsBounded() {
        let processes = CallingProcesses()
        for thread in 0..<3000 {
            _ = processes.process(ofThread: 5_000_000 + pid_t(thread), at: 0)
            #expect(processes.count <= CallingProcesses.limit)
        }
    }

    /// Removals and renames by the app are events for the journal only. While recording is off, the journal gets nothing, but
    /// readers still get all other events.
    @Test func whatIsKeptAndWhatIsTold() throws {
        try withStore { path in
            let log = EventLog(journal: try Journal.open(in: try Store.open(path, creating: true)))
            let reader = log.addReader()
            log.append([Event(type: .removed, path: "a"), Event(type: .mark, path: "b")])
            log.record(false)
            log.append([Event(type: .removed, path: "c"), Event(type: .mark, path: "d")])
            log.note("nothing")
            log.record(true)
            log.append([Event(type: .renamed, path: "e")])
            log.flush()
            let told = try StoreEvent.lines(String(decoding: reader.take(limit: 1 << 20) ?? [], as: UTF8.self))
            #expect(told.map(\.path) == ["b", "d"] && told.map(\.seq) == [2, 4])
            #expect(try JournalReader(storePath: path).events().map(\.path) == ["a", "b", "e"])
            log.remove(reader)
        }
    }
}
