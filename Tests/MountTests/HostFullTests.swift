import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// ENOSPC always means that the simulated device is full. A full disk under the store gives EIO (docs/RULES.md, Who may
    /// take what).
    @Suite struct HostFullTests {
        @Test func aFullDiskIsAnotherErrorThanAFullDevice() throws {
            try withMount(["--total", "64M"], on: .tmpfs, tmpfsSize: "8M") { mount in
                mount.expectWarnings()
                #expect(
                    mount.log.contains(mount.store), "no warning that the disk has less than the device: \(mount.log)")
                let reader = try EventReader(mount)
                try mount.make("Library/Caches/kept", size: 4096)
                let file = try OpenFile(mount.path("Documents/f"))
                #expect(throws: Errno.ioError) { try file.fill(16 << 20) }
                #expect(throws: Errno.ioError) { try file.allocate(Allocate.plain, 0, 32 << 20) }
                try reader.wait("an event") { $0.contains { $0.type == "hostFull" } }
                reader.close()
                #expect(mount.exists("Library/Caches/kept"), "purging does not help the disk")
                try checkLedger(mount)
                file.close()
                try Files.unlink(mount.path("Documents/f"))
                #expect(try mount.number("storage.used") == 4096)
                try mount.make("Documents/g", size: 1 << 20)
                try mount.remount(["--total", "2M"])
                #expect(try mount.number("storage.used") == 4096 + (1 << 20))
            }
        }

        /// The space that the journal reserves for itself leaves room for files on a nearly full disk.
        @Test(arguments: [600, 200]) func aStoreOnADiskThatIsNearlyFull(kibibytes: Int) throws {
            try Scratch.with("small") { scratch in
                let script = """
                    mkdir fs mount; truncate -s 12M image; mkfs.ext4 -q -m 0 -F image; mount -o loop image fs
                    free=$(df --output=avail -k fs | tail -n 1); head -c $(((free - \(kibibytes)) * 1024)) /dev/zero > fs/fill
                    """
                try Program.shell(script, in: scratch.path).succeeded()
                defer { _ = try? Program.run("umount", "-l", "\(scratch.path)/fs") }
                try PurgefsBinary.run("mount", "--total", "64M", "fs/store", "mount", in: scratch.path).succeeded()
                let result = Result { try Program.shell("echo hi > mount/Documents/a", in: scratch.path).succeeded() }
                try PurgefsBinary.run("unmount", "mount", in: scratch.path).succeeded()
                _ = try result.get()
                try PurgefsBinary.run("check", "fs/store", in: scratch.path).succeeded()
            }
        }

        /// Writing a setting that takes effect but cannot be saved fails with EIO. The setting is saved as soon as there is
        /// room.
        @Test func aSettingThatCannotBeSaved() throws {
            try withMount(["--total", "64M"], on: .tmpfs, tmpfsSize: "4M") { mount in
                mount.expectWarnings()
                let file = try OpenFile(mount.path("Documents/f"))
                #expect(throws: Errno.ioError) { try file.fill(16 << 20) }
                // Fills the rest of the last page.
                try Program.shell("head -c 1M /dev/zero >> '\(mount.path("Documents/f"))'", in: mount.scratch)
                #expect(throws: Errno.ioError) { try mount.write("1M", to: "storage.others") }
                #expect(try mount.number("storage.others") == 1 << 20)
                let set = try PurgefsBinary.run("set", mount.root, "others=1M")
                #expect(set.status == 1 && set.errors.contains("The change is in force"), "\(set)")
                let reboot = try PurgefsBinary.run("device", "reboot", mount.root)
                #expect(reboot.status == 1 && reboot.errors.contains("Nothing was changed"), "\(reboot)")
                #expect(try mount.status().device.boots == 1)
                file.close()
                try Files.unlink(mount.path("Documents/f"))
                try eventually("the setting is saved") {
                    Files.text("\(mount.store)/device.json").contains("\"others\": 1048576")
                }
                try mount.write("2M", to: "storage.others")
            }
        }

        /// Checks that bytes refused by the disk are not charged.
        private func checkLedger(_ mount: TestMount) throws {
            let used = try mount.number("storage.used")
            #expect(try Files.chargedTree(mount.root) == used)
            let size = try Files.size(mount.path("Documents/f"))
            #expect(used == 4096 + (size + 4095) / 4096 * 4096)
        }

        /// After many writers on a full disk, the ledger equals a fresh scan.
        @Test func writersAtAFullDisk() throws {
            try withMount(["--total", "64M"], on: .tmpfs, tmpfsSize: "8M") { mount in
                mount.expectWarnings()
                let refused = Tally()
                try Workers.run(6) { worker in
                    var random = SeededGenerator(seed: UInt64(worker))
                    for number in 0..<Scale.of(200) {
                        let file = try OpenFile(mount.path("Documents/w\(worker)-\(number % 8)"))
                        do {
                            _ = try file.write(1 + random.below(200_000), at: Int64(random.below(400_000)))
                        } catch {
                            guard (error as? Errno) == .ioError else { throw error }
                            refused.add()
                            try file.truncate(Int64(random.below(100_000)))
                        }
                    }
                }
                #expect(refused.value > 0)
                for number in 0..<8 { try Files.unlink(mount.path("Documents/w0-\(number)")) }
                let used = try mount.number("storage.used")
                #expect(try Files.chargedTree(mount.root) == used)
                try mount.remount()
                let scanned = try mount.number("storage.used")
                #expect(scanned == used)
            }
        }
    }
}
