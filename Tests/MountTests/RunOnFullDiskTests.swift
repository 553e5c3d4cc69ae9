import PurgeSystem
import Support
import Testing

extension Mounts {
    /// `purgefs run` on a disk that becomes full. It reports everything that happened.
    @Suite struct RunOnFullDiskTests {
        /// Passes `body` a directory on a disk of 8 MiB, and one on another disk.
        private func withSmallDisk(_ body: (String, String) throws -> Void) throws {
            try Scratch.with("full") { scratch in
                let disk = try BackingDirectory(.tmpfs, in: scratch.path, tmpfsSize: "8M")
                let result = Result { try body(disk.path, scratch.path) }
                let release = Result { try disk.release() }
                try result.get()
                try release.get()
            }
        }

        private func run(_ disk: String, _ events: String, options: [String] = [], _ script: String) throws -> Outcome {
            try Program.run(
                [PurgefsBinary.path, "run", "--store", "\(disk)/store", "--events", events] + options
                    + ["--", "/bin/sh", "-c", script])
        }

        /// The journal has reserved room, so it has all events.
        @Test(arguments: [["--quiet"], []]) func theEventsAndTheSummaryTellOfIt(options: [String]) throws {
            try withSmallDisk { disk, other in
                let run = try run(
                    disk, "\(other)/events", options: options,
                    """
                    (cd $TMPDIR && seq 200 | xargs touch); head -c 20M /dev/zero > ~/Documents/f && exit 1
                    head -c 1M /dev/zero >> ~/Documents/f && exit 2
                    echo tmp > $PURGEFS_MOUNT/.purgefs/storage.reclaim; exit 9
                    """)
                #expect(run.status == 9, "\(run)")
                let told = try StoreEvent.lines(Files.text("\(other)/events"))
                #expect(Set(told.map(\.type)) == ["mount", "app", "hostFull", "purge", "unmount"])
                #expect(Set(told.filter { $0.type == "purge" }.map(\.path)) == Set((1...200).map { "tmp/\($0)" }))
                let areInTheJournal = try StoreEvent.journal(of: "\(disk)/store") == told
                #expect(areInTheJournal)
                #expect(run.errors.contains("store: the disk under the store is full: "), "\(run)")
                #expect(run.errors.contains("0 writes refused") == options.isEmpty)
            }
        }

        /// More events than the journal has room for leave it incomplete, and the run reports that by its exit status.
        @Test func aJournalThatCouldNotTakeAll() throws {
            try withSmallDisk { disk, other in
                let run = try run(
                    disk, "\(other)/events",
                    """
                    head -c 20M /dev/zero > ~/Documents/f; head -c 1M /dev/zero >> ~/Documents/f
                    # Not more at once than the daemon holds for a reader that is slow.
                    for round in 1 2 3 4 5 6 7 8 9 10; do
                        (cd $TMPDIR && seq -f "$round-%0100g" 1500 | xargs touch) || exit 1
                        echo tmp > $PURGEFS_MOUNT/.purgefs/storage.reclaim || exit 2
                    done
                    """)
                #expect(run.status == 125, "\(run)")
                let told = try StoreEvent.lines(Files.text("\(other)/events"))
                let numbers = told.compactMap(\.seq)
                let areAll = numbers == Array(1...Int64(told.count))
                #expect(areAll, "\(numbers.count) events from \(numbers.first ?? 0) to \(numbers.last ?? 0)")
                let purges = told.count { $0.type == "purge" }
                #expect(purges == 15000 && told.last?.type == "unmount")
                let kept = try StoreEvent.journal(of: "\(disk)/store")
                let isBeginning = kept == Array(told.prefix(kept.count))
                #expect(isBeginning)
                let missing = told.count - kept.count
                let message = "store: the store is incomplete: \(missing) events are missing from the journal"
                #expect(run.errors.contains(message), "\(run)")
                #expect(run.errors.contains("purged 15000 files"), "\(run)")
            }
        }

        /// A setting that was changed while COMMAND ran takes effect, but cannot be saved, so its write fails with EIO.
        @Test func settingsThatCouldNotBeSaved() throws {
            try withSmallDisk { disk, other in
                let run = try run(
                    disk, "\(other)/events",
                    """
                    head -c 20M /dev/zero > ~/Documents/f; head -c 1M /dev/zero >> ~/Documents/f
                    echo 1G > $PURGEFS_MOUNT/.purgefs/storage.others && exit 1; exit 0
                    """)
                #expect(run.status == 125, "\(run)")
                #expect(run.errors.contains("store: the store is incomplete: the settings of this mount are not saved"))
            }
        }

        /// Most disks are smaller than the default device of 64 GiB, so the run warns only if a call failed because the disk
        /// was full.
        @Test func aDiskThatIsSmallerThanTheDevice() throws {
            try withSmallDisk { disk, other in
                let run = try run(disk, "\(other)/events", options: ["--quiet"], "exit 0")
                #expect(run.status == 0 && run.errors == "", "\(run)")
            }
        }

        @Test func nothingButTheStoreIsLeftInIt() throws {
            try Scratch.with("run") { scratch in
                let store = "\(scratch.path)/store"
                for _ in 0..<2 {
                    try PurgefsBinary.run(
                        "run", "--quiet", "--store", store, "--", "sh", "-c", "echo kept > ~/Documents/f"
                    ).succeeded()
                    #expect(try Files.names(in: store).sorted() == ["container", "device.json", "journal.sqlite"])
                    let journal = "\(store)/journal.sqlite"
                    #expect(try Files.charged(journal) - Files.size(journal) < 65536)
                    #expect(throws: Errno.noData) { try Attributes.get(store, "user.purgefs.start") }
                }
            }
        }
    }
}
