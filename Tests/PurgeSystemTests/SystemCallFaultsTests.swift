import Glibc
import PurgeSystem
import Testing

/// The hook through which tests make system calls fail.
struct SystemCallFaultsTests {
    /// Calls fstat, fstat, lseek and fstat.
    private func calls() throws(Errno) {
        _ = try System.status(0)
        _ = try System.status(0)
        do throws(Errno) { _ = try System.seek(0, 0, SEEK_CUR) } catch Errno(ESPIPE) {}
        _ = try System.status(0)
    }

    @Test func listsWhatWasCalled() throws {
        let outcome = SystemCallFaults.none.during { try calls() }
        try outcome.result.get()
        #expect(outcome.calls == [.fstat, .fstat, .lseek, .fstat])
        #expect(outcome.hits == 0)
        #expect(outcome.firstHit == nil)
    }

    struct Failure: Sendable {
        let faults: SystemCallFaults
        let error: Int32?
        let hits: Int
        let calls: Int
    }
    static let failures: [Failure] = [
        Failure(faults: SystemCallFaults(after: 0, code: EIO), error: EIO, hits: 1, calls: 1),
        Failure(faults: SystemCallFaults(after: 2, code: EMFILE), error: EMFILE, hits: 1, calls: 3),
        Failure(faults: SystemCallFaults(after: 4, code: EIO), error: nil, hits: 0, calls: 4),
        Failure(faults: SystemCallFaults(after: 0, of: .lseek, code: EIO), error: EIO, hits: 1, calls: 3),
        Failure(faults: SystemCallFaults(after: 2, of: .fstat, code: ENOSPC), error: ENOSPC, hits: 1, calls: 4),
        Failure(faults: SystemCallFaults(after: 0, of: .pread, code: EIO, count: .max), error: nil, hits: 0, calls: 4),
        // One call is interrupted three times and then succeeds.
        Failure(faults: SystemCallFaults(after: 1, code: EINTR, count: 3), error: nil, hits: 3, calls: 7),
        // Three calls are interrupted once each.
        Failure(faults: SystemCallFaults(after: 1, code: EINTR, count: .max), error: nil, hits: 3, calls: 7),
    ]
    @Test(arguments: failures) func failsTheNthCall(failure: Failure) throws {
        let outcome = failure.faults.during { try calls() }
        if let code = failure.error {
            #expect(throws: Errno(code)) { try outcome.result.get() }
        } else {
            try outcome.result.get()
        }
        #expect(outcome.hits == failure.hits)
        #expect(outcome.calls.count == failure.calls)
    }

    @Test func aCallThatFailsFromThenOnKeepsFailing() throws {
        var errors: [Errno?] = []
        let outcome = SystemCallFaults(after: 1, of: .fstat, code: EIO, count: .max).during {
            for _ in 0..<4 {
                do throws(Errno) {
                    _ = try System.status(0)
                    errors.append(nil)
                } catch { errors.append(error) }
            }
        }
        #expect(errors == [nil, Errno(EIO), Errno(EIO), Errno(EIO)])
        #expect(outcome.hits == 3)
    }

    /// The faults end when `during` returns, and affect only its thread.
    @Test func onlyTheThreadThatAsksForItIsHit() throws {
        let outcome = try SystemCallFaults(after: 0, code: EIO, count: .max).during {
            var error: Errno?
            let other = try WorkThread(name: "other") { _ = try? System.status(0) }
            other.join()
            do throws(Errno) { _ = try System.status(0) } catch let failure { error = failure }
            return error
        }.result.get()
        #expect(outcome == Errno(EIO))
        _ = try System.status(0)
    }
}
