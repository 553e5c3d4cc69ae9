import Glibc
import PurgeStore
import PurgeSystem
import Testing

@testable import PurgeVolume

/// If an entry in the store cannot be read, the error names its path.
struct UnreadableEntryTests {
    @Test func isNamed() throws {
        try withStore { path in
            do {
                let live = try LiveVolume(path)
                try live.make("Documents/sparse", blocks: 3)
                live.volume.end()
            }
            let file = try FileDescriptor.open(path + "/container/Documents/sparse", O_RDWR)
            try System.truncate(file.raw, 1 << 20)
            var named: Set<String> = []
            var number = 0
            while true {
                let faults = SystemCallFaults(after: number, code: EIO)
                let outcome = faults.during { try OfflineVolume(storePath: path, forReading: true) }
                if case .success(let volume) = outcome.result { try volume.close() }
                if case .failure(let error as StoreError) = outcome.result,
                    error.what.hasPrefix("the container cannot be read")
                {
                    named.insert(error.path)
                    #expect(error.advice.hasPrefix("The disk under the store reports errors"))
                }
                if outcome.hits == 0 { break }
                number += 1
            }
            #expect(named.isSuperset(of: ["Documents/sparse", "Documents", "tmp"].map { path + "/container/" + $0 }))
        }
    }
}
