import PurgeModel
import PurgeStore
import PurgeSystem
import Support

@testable import PurgeVolume

extension LiveVolume {
    /// Sends a command to a control file, as one write(2) does.
    func command(_ file: ControlFile, _ text: String) throws(Errno) {
        try volume.controlFiles.write(ControlHandle(file: file, reader: nil), Array(text.utf8), pid: Self.tid)
    }
    /// Returns the number in a control file.
    func bytes(_ file: ControlFile) throws -> Int64 {
        let text = volume.controlFiles.text(of: file)
        guard let number = Int64(text.dropLast()), text.hasSuffix("\n") else { throw TestFailure("\(file): \(text)") }
        return number
    }
    func blocks(_ file: ControlFile) throws -> Int64 { try bytes(file) / 4096 }

    var used: Int64 { volume.status().storage.used.bytes / 4096 }

    /// The volume's numbers, in the form of the reference model.
    var numbers: ReferenceLedger.Numbers {
        let status = volume.status()
        func usage(_ usage: StatusReport.Usage) -> ReferenceLedger.Usage {
            .init(bytes: usage.bytes.bytes, files: usage.files)
        }
        let storage = status.storage
        return ReferenceLedger.Numbers(
            total: storage.total.bytes, others: storage.others.bytes, othersPurgeable: storage.othersPurgeable.bytes,
            used: storage.used.bytes, available: storage.available.bytes, important: storage.important.bytes,
            opportunistic: storage.opportunistic.bytes, reclaimable: storage.reclaimable.bytes,
            temporary: usage(status.tiers.temporary), caches: usage(status.tiers.caches),
            persistent: usage(status.tiers.persistent))
    }

    /// Flushes the journal, and returns all its events.
    func journal() throws -> [Event] {
        volume.events.flush()
        return try JournalReader(storePath: storePath).events()
    }

    /// Flushes the journal, and returns its events of one type.
    func events(_ type: EventType) throws -> [Event] {
        volume.events.flush()
        return try JournalReader(storePath: storePath).events(.init(types: [type]))
    }
}

/// Gives `body` the path of a store that does not exist yet, and removes the store afterwards.
func withStore<R>(_ body: (String) throws -> R) throws -> R {
    try Scratch.with("volume") { try body($0.path + "/store") }
}

/// Gives `body` a volume over a new store, by default of 64 blocks.
func withVolume<R>(
    port: any KernelPort = NoKernel(), patience: Int64 = Volume.patience,
    settings: (inout Device) -> Void = LiveVolume.small, _ body: (LiveVolume) throws -> R
) throws -> R {
    try withStore { try body(try LiveVolume($0, port: port, patience: patience, settings: settings)) }
}

extension LiveVolume {
    /// Returns a volume that has just scanned the same store, as the next mount would.
    func scanned() throws -> Volume {
        try Volume(
            store: volume.store, device: volume.device, journal: volume.keeper.journal, mountpoint: nil,
            port: NoKernel())
    }
    /// Returns the charged blocks that a scan of the store finds.
    func scannedBlocks() throws -> Int64 { try scanned().status().storage.used.bytes / 4096 }
}
