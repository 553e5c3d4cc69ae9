import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeStore

/// A moment between earlier and later time stamps of the store.
struct StampTests {
    private func stamp(_ path: String) throws -> FileTime {
        let status = try Files.status(path)
        return FileTime(seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec))
    }

    @Test func itIsLaterThanWhatWasAndNotThanWhatComes() throws {
        try Scratch.with("stamps") { scratch in
            let store = try Store.open("\(scratch.path)/store", creating: true)
            for round in 0..<300 {
                let (before, after) = ("\(scratch.path)/\(round)", "\(scratch.path)/\(round)-after")
                try Files.write("x", to: before)
                // After a program has read a stamp, the kernel makes the next one finer.
                if round % 3 == 0 { _ = try stamp(before) }
                let now = FileTime(Instant(nanoseconds: System.now()))
                let moment = try store.momentBetweenStamps()
                try Files.write("x", to: after)
                let stamps = (try stamp(before), try stamp(after))
                #expect(stamps.0 < moment && now < moment && moment <= stamps.1, "round \(round)")
            }
        }
    }

    @Test(arguments: [EIO, EPERM]) func aStoreThatGivesNoStampIsAnError(code: Int32) throws {
        try Scratch.with("stamps") { scratch in
            let store = try Store.open("\(scratch.path)/store", creating: true)
            let outcome = SystemCallFaults(after: 0, code: code, count: 1).during {
                _ = try store.momentBetweenStamps()
            }
            #expect(throws: Errno(code)) { try outcome.result.get() }
        }
    }
}
