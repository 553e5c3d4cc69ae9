import Glibc
import PurgeSystem
import PurgeVolume
import Support
import Testing

/// Files that are kept open for threads that repeat a call (`Retries`).
struct RetriesTests {
    /// On a busy machine, a thread may repeat its call late. Calls of other threads do not take its file away meanwhile.
    @Test func aCallOfAnotherThread() throws {
        try withVolume { live in
            let volume = live.volume
            let documents = try live.node("Documents")
            let writer = try live.create("Documents/g")
            defer { volume.close(writer) }
            let caller = Caller(owner: geteuid(), group: getegid(), tid: 7, umask: 0)
            var elapsed: Int64
            var outcome: Result<Handle, Errno>
            // An attempt counts only if it takes less than the 250 ms for which a file is kept.
            repeat {
                try live.make("Documents/f", blocks: 1)
                let began = System.uptime()
                volume.retries.begin(caller.tid)
                let node = try volume.lookup("f", in: documents, caller: caller).node
                usleep(60_000)
                try live.allocate(writer, 0, 0, 4096)
                try live.unlink("Documents/f")
                outcome = Result { () throws(Errno) in
                    try volume.open(node, flags: O_RDONLY, caller: caller, offersPassthrough: false)
                }
                elapsed = System.uptime() - began
                if case .success(let handle) = outcome { volume.close(handle) }
                volume.forget(node, count: 1)
                volume.retries.finish(caller.tid)
            } while elapsed > 200_000_000
            #expect(throws: Never.self) { try outcome.get() }
        }
    }
}
