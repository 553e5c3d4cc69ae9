import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// The kernel's pages of refused writes, and the write-back of changed pages of a mapping.
struct RefusedPagesTests {
    private func withFile(_ body: (LiveVolume, FakeKernel, Handle) throws -> Void) throws {
        let kernel = FakeKernel(holdsErrands: true)
        try withVolume(port: kernel) { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.set("fileProtection", of: "Documents/f", to: "complete")
            try body(live, kernel, handle)
        }
    }

    /// The kernel keeps the data of a refused write mapped. One drop covers all writes that were refused before it.
    @Test func pagesOfARefusedWriteAreDropped() throws {
        try withFile { live, kernel, handle in
            try live.write(handle, at: 0, 4096)
            try live.enter(.locked)
            let file = handle.node.address
            #expect(kernel.errands == 0 && kernel.take() == [file])
            for _ in 0..<2 {
                for _ in 0..<3 {
                    #expect(throws: Errno.notPermitted) { try live.write(handle, at: 0, 4096) }
                }
                #expect(kernel.errands == 1)
                #expect(kernel.take() == [file])
            }
            try live.enter(.unlocked)
            try live.write(handle, at: 0, 4096)
            #expect(kernel.errands == 0 && kernel.take() == [])
        }
    }

    /// Until the kernel drops the pages, they contain data that was stored before the lock, and may be written back. Afterwards
    /// they contain data that was stored over a refused write.
    @Test func aMappingIsWrittenBackUntilItsPagesAreDropped() throws {
        try withFile { live, kernel, handle in
            let written = Tally()
            let volume = live.volume
            kernel.meanwhile(.dropping) { written.add((try? Self.writeBack(volume, handle)) ?? 0) }
            for lock in 1...2 {
                try live.write(handle, at: 0, 4096)
                try live.enter(.locking)
                #expect(try live.write(handle, at: 0, 4096, isMapped: true) == 4096)
                try live.enter(.locked)
                #expect(written.value == lock * 4096)
                #expect(throws: Errno.notPermitted) { try live.write(handle, at: 0, 4096, isMapped: true) }
                // The pages are already out of reach, so a reboot writes nothing either.
                try live.enter(.beforeFirstUnlock)
                #expect(written.value == lock * 4096)
                try live.enter(.unlocked)
                #expect(try live.write(handle, at: 0, 4096, isMapped: true) == 4096)
            }
            kernel.meanwhile(.dropping, nil)
        }
    }

    /// Data that was stored over a refused write is not written even after the unlock, because the unlock waits for the drop.
    @Test func anUnlockWaitsForTheDrop() throws {
        try withFile { live, kernel, handle in
            try live.enter(.locked)
            #expect(throws: Errno.notPermitted) { try live.write(handle, at: 0, 4096) }
            let volume = live.volume
            let hasReturned = Atomic<Bool>(false)
            let unlocking = Workers.start(1) { _ in
                try volume.deviceChanges.make(by: 0) { (device, _) throws(DeviceRefusal) in
                    device.lock.state = .unlocked
                    return [.lockState(.unlocked)]
                }
                hasReturned.store(true, ordering: .sequentiallyConsistent)
            }
            try eventually("the unlock") { volume.device.state == .unlocked }
            #expect(throws: Errno.notPermitted) { try live.write(handle, at: 0, 4096, isMapped: true) }
            try eventually("a wait, or an early return") {
                volume.core.deviceSettled.waiters > 0 || hasReturned.load(ordering: .sequentiallyConsistent)
            }
            let isEarly = hasReturned.load(ordering: .sequentiallyConsistent)
            #expect(!isEarly)
            _ = kernel.take()
            try unlocking.join(within: 10)
            #expect(try live.write(handle, at: 0, 4096, isMapped: true) == 4096)
        }
    }

    /// Pages changed before the device was locked reach the store, even if other pages of the file hold data of refused writes.
    @Test func onlyPagesOfRefusedWritesAreLost() throws {
        let page = Int(getpagesize())
        try withFile { live, kernel, handle in
            let volume = live.volume
            try live.write(handle, at: 0, 8 * page)
            let written = Mutex<[Range<Int>]>([])
            @Sendable func writeBack(_ pages: Range<Int>) -> Errno? {
                do throws(Errno) {
                    try Self.writeBack(volume, handle, at: pages.lowerBound * page, pages.count * page) { bytes in
                        let first = pages.lowerBound + bytes.lowerBound / page
                        written.withLock { $0.append(first..<first + bytes.count / page) }
                    }
                    return nil
                } catch { return error }
            }
            kernel.meanwhile(.dropping) {
                #expect(throws: Errno.notPermitted) { try Self.write(volume, handle, at: 3 * page + 100, page) }
                #expect(writeBack(0..<3) == nil)
                #expect(writeBack(2..<7) == .notPermitted)
                #expect(writeBack(3..<5) == .notPermitted)
            }
            defer { kernel.meanwhile(.dropping, nil) }
            try live.enter(.locked)
            #expect(written.withLock { $0 } == [0..<3, 2..<3, 5..<6, 6..<7])
            _ = kernel.take()
            try live.enter(.unlocked)
            #expect(writeBack(3..<5) == nil)
        }
    }

    private static func writeBack(_ volume: Volume, _ handle: Handle) throws(Errno) -> Int {
        try writeBack(volume, handle, at: 0, 4096) { _ in }
    }

    @discardableResult
    private static func writeBack(
        _ volume: Volume, _ handle: Handle, at offset: Int, _ length: Int, _ note: @escaping (Range<Int>) -> Void
    ) throws(Errno) -> Int {
        let request = WriteRequest(
            offset: Int64(offset), length: length, isMapped: true, dropsPrivileges: false, tid: LiveVolume.tid)
        return try volume.answering { (debt) throws(Errno) in
            try volume.fileData.write(
                handle, request,
                TestData { (fd, bytes) throws(Errno) in
                    note(bytes)
                    return try LiveVolume.put(fd, bytes.count, Int64(offset + bytes.lowerBound))
                }, debt: &debt)
        }.announced()
    }

    private static func write(_ volume: Volume, _ handle: Handle, at offset: Int, _ length: Int) throws(Errno) {
        let request = WriteRequest(
            offset: Int64(offset), length: length, isMapped: false, dropsPrivileges: false, tid: LiveVolume.tid)
        _ = try volume.answering { (debt) throws(Errno) in
            try volume.fileData.write(
                handle, request, TestData { (_, bytes) throws(Errno) in bytes.count }, debt: &debt)
        }.announced()
    }

    /// Setting a class before the first unlock drops no pages, so their data is not lost.
    @Test func aClassThatIsSetBeforeTheFirstUnlockLeavesMappingsAlone() throws {
        try withFile { live, _, handle in
            func set(_ protection: FileProtection) throws {
                try live.set("fileProtection", of: "Documents/f", to: protection.rawValue)
            }
            try set(.none)
            try live.enter(.beforeFirstUnlock)
            try set(.completeUntilFirstUserAuthentication)
            try live.write(handle, at: 0, 4096, isMapped: true)
            try live.enter(.unlocked)
            try live.enter(.beforeFirstUnlock)
            #expect(throws: Errno.notPermitted) { try live.write(handle, at: 0, 4096, isMapped: true) }
            try set(.none)
            try live.write(handle, at: 0, 4096, isMapped: true)
            try set(.completeUntilFirstUserAuthentication)
            try live.write(handle, at: 0, 4096, isMapped: true)
            #expect(throws: Errno.notPermitted) { try live.write(handle, at: 0, 4096) }
        }
    }
}

extension FakeKernel {
    /// Runs the waiting errands, and returns the files whose pages were dropped since the last call.
    fileprivate func take() -> [UInt64] {
        runErrands()
        return takeDropped()
    }
}
