import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// The kernel learns of purged files before the caller learns the outcome.
struct AnnouncementDebtTests {
    private final class Log: Sendable {
        let kernel: FakeKernel
        let outcomes = Mutex<[Result<Int, Errno>]>([])

        init(isHeld: Bool = true) { kernel = FakeKernel(holdsAnnouncements: isHeld) }
    }

    /// Runs `body` with the answer to a write that purges `tmp/a`; `perform` is the store's part of the write.
    private func withPurge(
        _ log: Log, perform: @escaping (Int) throws(Errno) -> Int,
        _ body: (LiveVolume, consuming UnpaidAnswer<Int>) throws -> Void
    ) throws {
        try withVolume(port: log.kernel) { live in
            _ = try live.volume.lookup("tmp", in: live.volume.root, caller: LiveVolume.caller)
            try live.make("tmp/a", blocks: 40)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            let request = WriteRequest(
                offset: 0, length: 60 * 4096, isMapped: false, dropsPrivileges: false, tid: LiveVolume.tid)
            let unpaid = live.volume.answering { (debt) throws(Errno) in
                try live.volume.fileData.write(
                    handle, request, TestData { (_, bytes) throws(Errno) in try perform(bytes.count) }, debt: &debt)
            }
            try body(live, unpaid)
        }
    }

    private func pay(_ unpaid: consuming UnpaidAnswer<Int>, _ log: Log) {
        unpaid.pay { _ in
            Issue.record("something was owed")
        } later: {
            { outcome in log.outcomes.withLock { $0.append(outcome) } }
        }
    }

    @Test func theOutcomeComesWhenTheKernelHasBeenTold() throws {
        let log = Log()
        try withPurge(log, perform: { $0 }) { _, unpaid in
            pay(unpaid, log)
            #expect(log.kernel.announcements == 1 && log.outcomes.withLock { $0 } == [])
            log.kernel.finish()
            #expect(log.outcomes.withLock { $0 } == [.success(60 * 4096)])
        }
    }

    @Test func anErrorAlsoWaitsForTheKernel() throws {
        let log = Log()
        try withPurge(log, perform: { (_) throws(Errno) in throw .ioError }) { _, unpaid in
            pay(unpaid, log)
            #expect(log.outcomes.withLock { $0 } == [])
            log.kernel.finish()
            #expect(log.outcomes.withLock { $0 } == [.failure(.ioError)])
        }
    }

    @Test func withoutAPurgeItComesAtOnce() throws {
        let log = Log()
        try withVolume(port: log.kernel) { live in
            live.volume.answering { (_) throws(Errno) in 7 }.pay { outcome in
                log.outcomes.withLock { $0.append(outcome) }
            } later: {
                { _ in Issue.record("nothing was owed") }
            }
        }
        #expect(log.outcomes.withLock { $0 } == [.success(7)] && log.kernel.announcements == 0)
    }

    /// An unpaid answer that is dropped still announces its purge, and reports the fault.
    @Test func aDebtThatIsNotPaidIsNoticed() throws {
        let log = Log(isHeld: false)
        try withPurge(log, perform: { $0 }) { live, unpaid in
            _ = consume unpaid
            #expect(log.kernel.announcements == 1)
            #expect(
                log.kernel.reports.map {
                    "\($0)".contains(
                        "the announcement of purged names was not "
                            + "awaited")
                } == [true])
            let tmp = try live.node("tmp")
            #expect(live.volume.mayCacheAbsence("a", in: tmp))
        }
    }

    @Test func withoutAPurgeThereIsNothingToForget() throws {
        let log = Log(isHeld: false)
        try withVolume(port: log.kernel) { live in
            _ = live.volume.answering { (_) throws(Errno) in 7 }
        }
        #expect(log.kernel.reports.isEmpty && log.kernel.announcements == 0)
    }

    /// A command waits for its announcements even if it fails.
    @Test func aCommandReturnsAfterTheAnnouncement() throws {
        let log = Log()
        try withVolume(port: log.kernel) { live in
            _ = try live.volume.lookup("tmp", in: live.volume.root, caller: LiveVolume.caller)
            try live.make("tmp/a", blocks: 4)
            let (volume, tmp) = (live.volume, try live.node("tmp"))
            let waiting = Workers.start(1) { _ in
                #expect(throws: Errno.tryAgain) {
                    try volume.controlFiles.write(
                        ControlHandle(file: .storageReclaim, reader: nil), Array("40K".utf8), pid: LiveVolume.tid)
                }
                #expect(volume.mayCacheAbsence("a", in: tmp))
            }
            // The command announces the file, then makes an empty announcement and waits for it.
            try eventually("two announcements") { log.kernel.announcements == 2 }
            #expect(!volume.mayCacheAbsence("a", in: tmp))
            log.kernel.finish()
            try waiting.join(within: 10)
            #expect(log.kernel.reports.isEmpty)
        }
    }
}
