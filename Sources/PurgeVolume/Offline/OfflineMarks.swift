import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// A store that no daemon holds and in which entries are marked. A mark is an attribute of the entry in the store, so the
/// container need not be scanned. This class records only the event that a mark was set.
public final class OfflineMarks {
    public typealias Mark = (attribute: StorageAttribute, value: String)

    private let store: Store
    private let journal: Journal

    public var container: FileDescriptor { store.container }

    /// Opens the store, and holds its lock until the value is gone.
    public init(storePath: String) throws(StoreError) {
        store = try Store.open(storePath, creating: false)
        journal = try Journal.open(in: store)
    }

    deinit { journal.close() }

    /// Records an event for each mark that was set on the entry of the container at `path` or, with nil, removed. The tier
    /// follows from the path. A file may have a more durable one by another name, which only a scan would find.
    public func record(
        changes marks: [(attribute: StorageAttribute, value: String?)], at path: [UInt8]
    ) throws(StoreError) {
        let tier = Place.at(path: path).tier
        let time = clock.now.iso8601
        let last = journal.lastSequence
        try journal.append(
            marks.enumerated().map { index, mark in
                var event = Event.mark(
                    mark.attribute, mark.value, path: String(decoding: path, as: UTF8.self), tier: tier, pid: getpid())
                (event.seq, event.time) = (last + 1 + Int64(index), time)
                return event
            })
    }

    /// The device's clock. It shows real time if the settings cannot be read, which a mark does not need.
    private var clock: DeviceClock {
        do throws(StoreError) { return DeviceClock(of: try store.loadSettings()) } catch { return DeviceClock() }
    }
}
