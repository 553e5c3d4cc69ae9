import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// A store that no daemon holds, opened to mark entries. A mark is an attribute that the caller sets on the entry in
/// `container`, so no scan is needed. This class only records the events.
public final class OfflineMarks {
    public typealias Mark = (attribute: StorageAttribute, value: String)

    private let store: Store
    private let journal: Journal

    public var container: FileDescriptor { store.container }

    /// Opens the store, and holds its lock for the lifetime of the object.
    public init(storePath: String) throws(StoreError) {
        store = try Store.open(storePath, creating: false)
        journal = try Journal.open(in: store)
    }

    deinit { journal.close() }

    /// Records an event for each mark that was set on the entry at `path` in the container, or removed if its value is nil. The
    /// tier follows from the path. Another name may give the file a more durable tier, but only a scan would find that name.
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

    /// The device's clock. Falls back to real time if the settings cannot be read, because marking does not need them.
    private var clock: DeviceClock {
        do throws(StoreError) { return DeviceClock(of: try store.loadSettings()) } catch { return DeviceClock() }
    }
}
