import PurgeTree

/// All open files of a volume, in no order.
struct HandleList: Sendable {
    // Unmanaged: a handle is in this list for as long as in that of its node, which holds a reference (`VolumeState.link`).
    private var first: Unmanaged<Handle>?
    private(set) var count = 0

    mutating func insert(_ handle: Handle) {
        count += 1
        handle.nextOfAll = first
        // Unmanaged: as `first` is.
        first = Unmanaged.passUnretained(handle)
        handle.nextOfAll?._withUnsafeGuaranteedRef { $0.previousOfAll = first }
    }

    mutating func remove(_ handle: Handle) {
        count -= 1
        if let previous = handle.previousOfAll {
            previous._withUnsafeGuaranteedRef { $0.nextOfAll = handle.nextOfAll }
        } else {
            first = handle.nextOfAll
        }
        handle.nextOfAll?._withUnsafeGuaranteedRef { $0.previousOfAll = handle.previousOfAll }
        handle.nextOfAll = nil
        handle.previousOfAll = nil
    }

    /// The files of the `count` handles that were opened last.
    func newestFiles(_ count: Int) -> [Node] {
        var files: [Node] = []
        var next = first
        while files.count < count, let handle = next {
            handle._withUnsafeGuaranteedRef { handle in
                next = handle.nextOfAll
                files.append(handle.node)
            }
        }
        return files
    }

    /// The open files that `body` returns something for, each once.
    func files<Value>(_ body: (Node) -> Value?) -> [Value] {
        var (found, seen): ([Value], Set<ObjectIdentifier>) = ([], [])
        var next = first
        while let handle = next {
            handle._withUnsafeGuaranteedRef { handle in
                next = handle.nextOfAll
                if seen.insert(ObjectIdentifier(handle.node)).inserted, let value = body(handle.node) {
                    found.append(value)
                }
            }
        }
        return found
    }
}
