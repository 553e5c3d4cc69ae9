import Foundation
import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support

@testable import PurgeBackup

/// A folder that is read like a mounted container.
struct SampleContainer {
    let path: String

    static let header = BackupHeader(
        created: "2026-11-22T12:00:00.000Z", container: "64D2D0B7-3CC8-46A4-8F77-4F2C0B6C3E11", source: "/nowhere",
        device: Device(containerID: "64D2D0B7-3CC8-46A4-8F77-4F2C0B6C3E11"))

    static func with(_ body: (SampleContainer) throws -> Void) throws {
        try Scratch.with("container") { scratch in
            let path = "\(scratch.path)/container"
            try Files.makeDirectory(path)
            try body(SampleContainer(path: path))
        }
    }

    var source: BackupSource { get throws { try BackupSource(mount: path) } }

    func pathOf(_ name: String) -> String { "\(path)/\(name)" }

    /// Returns all entries in the order of the walk.
    func walked() throws -> [WalkedEntry] {
        var found: [WalkedEntry] = []
        try ContainerWalk(source: source).run { (entry) throws(StoreError) in
            found.append(entry)
            return true
        }
        return found
    }

    func entry(_ name: String) throws -> WalkedEntry {
        guard let found = try walked().first(where: { $0.path == Array(name.utf8) }) else {
            throw TestFailure("there is no \(name)")
        }
        return found
    }

    func reader() throws -> EntryReader { EntryReader(try source, BackupProgress(path: path) { _ in }) }
}

/// A sink that keeps the data of entries.
final class KeptData: EntrySink {
    private(set) var records: [EntryRecord] = []
    private(set) var bytes: [UInt8] = []
    private let onData: () -> Void

    /// Creates a sink that calls `onData` before each piece of data.
    init(onData: @escaping () -> Void = {}) { self.onData = onData }

    func begin(_ record: EntryRecord) { records.append(record) }
    func data(_ bytes: UnsafeRawBufferPointer) {
        onData()
        self.bytes += bytes
    }
    func hole(_ length: Int64) { bytes += [UInt8](repeating: 0, count: Int(length)) }
}
