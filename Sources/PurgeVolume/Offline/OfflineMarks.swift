import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// A store that no daemon holds and in which entries are marked. A mark is an attribute of the entry in the store, so
/// the container need not be scanned; what is recorded here is that it was set.
public final class OfflineMarks {
    public typealias Mark = (attribute: StorageAttribute, value: String)

    private let store: Store
    private let journal: Journal

    public var container: FileDescriptor { store.container }

    /// Takes the store's lock until the value is gone.
    public init(storePath: String) throws(StoreError) {
        store = try Store.open(storePath, creating: false)
        journal = try Journal.open(in: store)
    }

    deinit { journal.close() }

    /// An event for each mark that has been set on the entry of the container at `path`, or removed (nil). The tier is that
    /// of the path: a file may have a more durable one by another name, which is not known without a scan.
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

    /// The device's; real time if its settings cannot be read, which a mark does not need.
    private var clock: DeviceClock {
        do throws(StoreError) { return DeviceClock(of: try store.loadSettings()) } catch { return DeviceClock() }
    }
}
