import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// Extended attributes: attributes of the app, attributes that rules depend on, and computed ones.
public struct ExtendedAttributes: VolumeFamily {
    let core: VolumeCore

    /// Returns the value of an attribute. Throws ENODATA if the entry does not have it.
    public func value(of node: Node, named name: CName, caller: Caller) throws(Errno) -> [UInt8] {
        if node.isControl { throw .noData }
        switch AttributeName(name) {
        case .storage(let attribute, let appleForm):
            guard let value = try storedValue(of: node, attribute.storeKey) else {
                // Every file has a class, so its default class can be read although nobody has set it.
                guard attribute == .fileProtection, node.isRegular else { throw .noData }
                return Array(read { $0.device.protectionRule.effective($0[node].protection) }.appleName.utf8)
            }
            guard let appleForm else { return value }
            if value != [UInt8(ascii: "1")] { throw .noData }
            return appleForm
        case .computed(let attribute): return Array(try computed(attribute, of: node).utf8)
        case .unknown: throw .invalid
        case .plain(let key):
            let value = try withKey(key) { (key) throws(Errno) in try storedValue(of: node, key) }
            guard let value else { throw .noData }
            return value
        }
    }

    /// Runs `body` with the key. Throws ERANGE if the key is too long: ext4 and the kernel limit attribute names to 255 bytes,
    /// and our prefix can make a name longer than that.
    private func withKey<Value>(_ key: AttributeKey, _ body: (CName) throws(Errno) -> Value) throws(Errno) -> Value {
        if key.length > AttributeKey.maximumLength { throw .range }
        return try key.withCName(body)
    }

    private func storedValue(of node: Node, _ key: CName) throws(Errno) -> [UInt8]? {
        try access.reading(node) { (location) throws(Errno) in
            try location.with { (directory, name) throws(Errno) in
                try StoredAttributes.value(of: directory, name, key)
            }
        }
    }

    /// Returns the names of the set attributes that the caller may see, each with a terminating zero. Computed attributes are
    /// not listed.
    public func names(of node: Node, caller: Caller) throws(Errno) -> [UInt8] {
        if node.isControl { return [] }
        let names = try access.reading(node) { (location) throws(Errno) in
            try location.with { (directory, name) throws(Errno) in
                try StoredAttributes.names(of: directory, name)
            }
        }
        var list: [UInt8] = []
        for name in names {
            guard let visible = AttributeName.visible(name, byRoot: caller.owner == 0) else { continue }
            list += Array(visible.utf8) + [0]
        }
        return list
    }

    public func set(
        of node: Node, named name: CName, to value: [UInt8], flags: Int32, caller: Caller
    ) throws(Errno) {
        if node.isControl { throw .notPermitted }
        switch AttributeName(name) {
        case .storage(let attribute, let appleForm):
            let text = appleForm == nil ? String(decoding: value, as: UTF8.self) : "1"
            guard let canonical = attribute.canonical(text) else { throw .invalid }
            var flags = flags
            if appleForm != nil, try storedValue(of: node, attribute.storeKey) == [UInt8(ascii: "0")] {
                // Under Apple's names a flag that is `0` does not exist.
                if flags & System.attributeReplace != 0 { throw .noData }
                flags = 0
            }
            try setStorageAttribute(attribute, of: node, to: canonical, flags: flags, caller: caller)
        case .computed: throw .notPermitted
        case .unknown: throw .invalid
        case .plain(let key):
            try access.changing(node) { (location) throws(Errno) in
                try withKey(key) { (key) throws(Errno) in
                    try setStored(key, of: node, at: location, to: value, flags: flags)
                }
                if key.isEqual(to: "system.posix_acl_access") {
                    try Privileges.dropGroupWithList(location, tid: caller.tid)
                }
            }
        }
    }

    private func setStored(
        _ key: CName, of node: Node, at location: Location, to value: [UInt8], flags: Int32
    ) throws(Errno) {
        do throws(Errno) {
            try location.with { (directory, name) throws(Errno) in
                try System.setAttribute(at: directory, name, key, value, flags: flags)
            }
        } catch {
            if error == .noSpace, isTooLarge(strlen(key) + value.count) { throw .argListTooLong }
            throw access.hostError(error, node)
        }
    }

    /// Returns whether the backing file system reports a full disk because an attribute of `bytes`, including its name, does
    /// not fit into the file.
    private func isTooLarge(_ bytes: Int) -> Bool {
        switch kind {
        // The limit depends on the file's other attributes, so `bytes` cannot be compared with it. If the disk has room, the
        // attribute must be too large. overlayfs may lie on ext4.
        case .ext4, .overlay: hostHasRoom()
        case .btrfs: bytes > Self.largestOnBtrfs
        case .xfs, .other: false
        }
    }

    /// Bytes that fit into a leaf of 16 KiB, the default of mkfs.btrfs, beside its three headers.
    private static let largestOnBtrfs = 16384 - 101 - 25 - 30

    private func hostHasRoom() -> Bool {
        do throws(Errno) {
            let disk = try System.fileSystemStatus(store.container.raw)
            return (geteuid() == 0 ? disk.f_bfree : disk.f_bavail) > 16
        } catch { return false }
    }

    public func remove(of node: Node, named name: CName, caller: Caller) throws(Errno) {
        if node.isControl { throw .notPermitted }
        switch AttributeName(name) {
        case .storage(let attribute, let appleForm):
            let value = try storedValue(of: node, attribute.storeKey)
            guard let value, appleForm == nil || value == [UInt8(ascii: "1")] else { throw .noData }
            try inOrder(attribute) { () throws(Errno) in
                try changing(attribute, of: node, to: nil, tid: caller.tid) { () throws(Errno) in
                    try removeStored(attribute.storeKey, of: node)
                }
                remember(attribute, nil, of: node, tid: caller.tid)
            }
            core.finishPlacing(below: [node])
        case .computed: throw .notPermitted
        case .unknown: throw .invalid
        case .plain(let key):
            try withKey(key) { (key) throws(Errno) in try removeStored(key, of: node) }
        }
    }

    private func removeStored(_ key: CName, of node: Node) throws(Errno) {
        try access.changing(node) { (location) throws(Errno) in
            try location.with { (directory, name) throws(Errno) in
                try System.removeAttribute(at: directory, name, key)
            }
        }
    }

    private func setStorageAttribute(
        _ attribute: StorageAttribute, of node: Node, to canonical: String, flags: Int32, caller: Caller
    ) throws(Errno) {
        guard node.isRegular || node.isDirectory else { throw .notPermitted }
        if attribute.isForDirectoriesOnly && !node.isDirectory { throw .invalid }
        try inOrder(attribute) { () throws(Errno) in
            try changing(attribute, of: node, to: canonical, tid: caller.tid) { () throws(Errno) in
                try access.changing(node) { (location) throws(Errno) in
                    try setStored(attribute.storeKey, of: node, at: location, to: Array(canonical.utf8), flags: flags)
                }
            }
            remember(attribute, canonical, of: node, tid: caller.tid)
        }
        core.finishPlacing(below: [node])
    }

    /// Sets isPurgeable of an open file by its descriptor.
    func set(_ mark: PurgeMark, of handle: Handle, tid: pid_t) throws(Errno) {
        let attribute = StorageAttribute.isPurgeable
        try inOrder(attribute) { () throws(Errno) in
            let value = Array(mark.text.utf8)
            try setStored(attribute.storeKey, of: handle.node, at: .open(handle), to: value, flags: 0)
            remember(attribute, mark.text, of: handle.node, tid: tid)
        }
    }

    /// Sets isPurgeable of a directory, which may be removed meanwhile.
    func set(_ mark: PurgeMark, ofDirectory node: Node, caller: Caller) throws(Errno) {
        try setStorageAttribute(.isPurgeable, of: node, to: mark.text, flags: 0, caller: caller)
    }

    /// Runs `body`. For isPurgeable it does so under a lock, so that the tree has the value that was stored last even if an
    /// ioctl and a setxattr run concurrently. The kernel serializes changes of all other attributes.
    private func inOrder(_ attribute: StorageAttribute, _ body: () throws(Errno) -> Void) throws(Errno) {
        guard attribute == .isPurgeable else { return try body() }
        try core.marking.withLock { (_) throws(Errno) in try body() }
    }

    /// Runs `body`, which stores the value of an attribute. Throws if a change of the protection class is not permitted. Until
    /// the new class is stored, the tree has the stricter of the old and the new class. If the device locks in the meantime,
    /// the stricter class decides whether the kernel drops the pages, even if the new class cannot be stored.
    private func changing(
        _ attribute: StorageAttribute, of node: Node, to value: String?, tid: pid_t, _ body: () throws(Errno) -> Void
    ) throws(Errno) {
        guard attribute == .fileProtection else { return try body() }
        let new = value.flatMap { FileProtection(text: $0) }
        let old = try change { (state) throws(Errno) in
            try DataProtection.admitChange(of: node, to: new, by: tid, &state)
            let old = state[node].protection
            state.tree.set(.protection(state.device.protectionRule.stricter(old, new)), of: node)
            return old
        }
        do throws(Errno) { try body() } catch {
            change { $0.tree.set(.protection(old), of: node) }
            throw error
        }
    }

    /// Notes in the tree that an attribute was set or, with nil, removed, and sends the event.
    private func remember(_ attribute: StorageAttribute, _ value: String?, of node: Node, tid: pid_t) {
        change { state in
            switch attribute {
            case .isPurgeable: state.tree.set(.mark(value.flatMap { PurgeMark(text: $0) }), of: node)
            case .isExcludedFromBackup: state.tree.set(.exclusion(value == "1"), of: node)
            case .fileProtection:
                state.tree.set(.protection(value.flatMap { FileProtection(text: $0) }), of: node)
            case .purgeAfter, .sizeLimit:
                var policy = state[node].policy ?? DirectoryPolicy()
                policy.set(attribute, to: value)
                state.tree.set(.policy(policy), of: node)
                core.hasPolicies.store(true, ordering: .relaxed)
            case .purgeGroup, .purgeTombstone:
                var behaviour = state[node].behaviour
                behaviour.set(attribute, to: value)
                state.tree.set(.behaviour(behaviour), of: node)
            }
            state.outbox.append(
                .mark(attribute, value, path: state[node].path().text, tier: state[node].standing.tier, pid: tid))
        }
    }

    /// Stores a protection class with an entry that has none of its own yet, such as a new entry that inherits the class.
    func store(_ inherited: FileProtection, of directory: Int32, _ name: CName?) throws(Errno) {
        try System.setAttribute(
            at: directory, name, StorageAttribute.fileProtection.storeKey, Array(inherited.appleName.utf8))
    }

    private func computed(_ attribute: ComputedAttribute, of node: Node) throws(Errno) -> String {
        policies.settle()
        let (capacity, charged, tier) = read { state in
            (state.capacity, node.isRegular ? state[node].charged : .zero, state[node].standing.tier)
        }
        switch attribute {
        case .volumeTotalCapacity: return String(capacity.total.bytes)
        case .volumeAvailableCapacity: return String(capacity.free.bytes)
        case .volumeAvailableCapacityForImportantUsage: return String(capacity.important.bytes)
        case .volumeAvailableCapacityForOpportunisticUsage: return String(capacity.opportunistic.bytes)
        case .fileAllocatedSize, .totalFileAllocatedSize: return String(charged.bytes)
        case .tier: return tier.rawValue
        case .creationDate: return try creationDate(of: node)
        }
    }

    private func creationDate(of node: Node) throws(Errno) -> String {
        let attributes = try lookups.attributes(of: node, withBirth: true)
        // Without a birth time, the time of the last modification is the best approximation.
        return (attributes.birth ?? Instant(attributes.status.st_mtim)).iso8601
    }
}
