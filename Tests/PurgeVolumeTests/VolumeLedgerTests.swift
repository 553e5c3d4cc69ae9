import Support
import Testing

@testable import PurgeVolume

/// Compares the ledger with a model that shares no code with it, and with a scan of the store.
struct VolumeLedgerTests {
    @Test(arguments: [(11, false), (12, false), (13, true), (14, true)])
    func randomOperations(seed: UInt64, hasPressure: Bool) throws {
        try withStore { store in
            let run = try LedgerRun(store, seed: seed, hasPressure: hasPressure)
            let steps = Scale.of(700)
            for step in 1...steps {
                try run.step()
                try run.check(step)
                if step % 50 == 0 { try run.checkScan(step) }
                if step % 25 == 0 { try run.checkOrder(step) }
                if step % 175 == 0 { try run.remount(step) }
            }
            run.end()
        }
    }
}
