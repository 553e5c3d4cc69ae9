import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeStore

/// File systems that cannot hold a store, or that are full.
@Suite(.enabled(if: PrivateMount.isPossible, "needs root or user namespaces to mount"))
struct FileSystemTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    @Test func refusesOneWithoutExtendedAttributes() throws {
        let mount = try PrivateMount(at: directory.path, "mount -t ramfs -o mode=755 none . && cd \(directory.path)")
        let error = try storeError { _ = try Store.open(mount.path, creating: true) }
        #expect(error.what == "the file system under the store does not support user extended attributes")
        #expect(error.advice == "Put the store on ext4, XFS, Btrfs, ZFS, or (from Linux 6.6 on) tmpfs.")
        #expect(error.path == mount.path)
    }

    @Test func refusesAReadOnlyOne() throws {
        let mount = try PrivateMount(
            at: directory.path,
            "mount -t tmpfs none . && mkdir -p \(directory.path)/s/container && mount -o remount,bind,ro \(directory.path)"
        )
        for creating in [true, false] {
            let error = try storeError { _ = try Store.open(mount.path + "/s", creating: creating) }
            #expect(error.what == "the store is on a file system that is mounted read-only")
        }
        let error = try storeError { _ = try Store.open(mount.path + "/new", creating: true) }
        #expect(error.what == "the store cannot be made: Read-only file system")
        #expect(error.advice.hasPrefix("A store must be writable"))
    }

    /// The journal reserves room for events while the disk has 5 MiB free, so events can be written to a full disk and read
    /// again.
    @Test(.enabled(if: geteuid() == 0, "needs root to mount"))
    func theJournalTakesEventsWhenTheDiskIsFull() throws {
        let mount = try BackingDirectory(.tmpfs, in: directory.path, tmpfsSize: "8M")
        defer { do { try mount.release() } catch { Issue.record("\(error)") } }
        try fillUpAndAppend(mount.path)
    }

    private func fillUpAndAppend(_ path: String) throws {
        let store = try Store.open(path, creating: true)
        let journal = try Journal.open(in: store)
        let filler = try FileDescriptor.open(path + "/container/filler", O_WRONLY | O_CREAT, mode: 0o644)
        #expect(throws: Errno.noSpace) { try filler.writeAll([UInt8](repeating: 1, count: 16 << 20)) }
        #expect(throws: Errno.noSpace) { try filler.writeAll([UInt8](repeating: 1, count: 4096)) }
        let free = try System.fileSystemStatus(store.directory.raw).f_bavail
        #expect(free == 0)
        for first in stride(from: Int64(1), through: 5001, by: 1000) {
            try journal.append((first..<first + 1000).map { JournalTests.purge(seq: $0) })
        }
        journal.close()
        #expect(try Journal.open(in: store).lastSequence == 6000)
    }

    @Test func keepsTheOldSettingsWhenTheDiskIsFull() throws {
        let mount = try PrivateMount(
            at: directory.path, "mount -t tmpfs -o size=64k,mode=755 none . && cd \(directory.path)")
        let store = try Store.open(mount.path, creating: true)
        var settings = Device(containerID: DeviceSettingsTests.id)
        try store.saveSettings(settings)
        let filler = try FileDescriptor.open(mount.path + "/container/filler", O_WRONLY | O_CREAT, mode: 0o644)
        #expect(throws: Errno.noSpace) { try filler.writeAll([UInt8](repeating: 1, count: 1 << 20)) }
        let before = settings
        settings.boots = 2
        let error = try storeError { try store.saveSettings(settings) }
        #expect(error.what == "the settings cannot be saved: No space left on device")
        #expect(try store.loadSettings() == before)
        #expect(access(mount.path + "/device.json.new", F_OK) != 0)
    }
}
