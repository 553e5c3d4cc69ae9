import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
@testable import PurgeTree
import Support

@testable import PurgeVolume

/// A volume over a store of its own, without FUSE. Its calls take paths, and do what the kernel would.
final class LiveVolume: Sendable {
    let volume: Volume
    let storePath: String
    static let block = 4096

    /// Sets up a device of 64 blocks without thresholds, the default of `settings`.
    static func small(_ settings: inout Device) {
        settings.total = ByteCount(blocks: 64)
        settings.thresholds = .off
    }

    /// Opens or creates a store, and applies `settings` to its saved settings.
    convenience init(
        _ storePath: String, port: any KernelPort = NoKernel(), patience: Int64 = Volume.patience,
        replacesJournal: Bool = false, settings change: (inout Device) -> Void = small
    ) throws {
        let store = try Store.open(storePath, creating: true)
        var settings = try store.loadSettings()
        change(&settings)
        try store.saveSettings(settings)
        try self.init(store, storePath, port, patience, replacesJournal)
    }

    /// Mounts the store again; `old` must have ended.
    convenience init(after old: LiveVolume) throws {
        try self.init(old.volume.store, old.storePath, NoKernel(), Volume.patience)
    }

    private init(
        _ store: Store, _ storePath: String, _ port: any KernelPort, _ patience: Int64, _ replacesJournal: Bool = false
    ) throws {
        self.storePath = storePath
        volume = try Volume(
            store: store, device: store.loadSettings(),
            journal: Journal.open(in: store, replacingDamaged: replacesJournal), mountpoint: "/nowhere", port: port,
            patience: patience)
    }

    /// An ID greater than any thread can have.
    static let tid: pid_t = 5_000_000
    static let caller = Caller(owner: geteuid(), group: getegid(), tid: tid, umask: 0o022)

    /// Returns the place of an entry in the store.
    func stored(_ path: String) -> String { "\(storePath)/container/\(path)" }

    // Looks a path up as the kernel would, and forgets the node at once. The tree keeps it as long as it has a name.
    func node(_ path: String) throws(Errno) -> Node {
        var node = volume.root
        for name in path.split(separator: "/") {
            node = try volume.lookup(String(name), in: node, caller: Self.caller).node
            volume.forget(node, count: 1)
        }
        return node
    }

    func place(_ path: String) throws(Errno) -> (parent: Node, name: String) {
        let names = path.split(separator: "/")
        return (try node(names.dropLast().joined(separator: "/")), names.last.map(String.init) ?? "")
    }

    func exists(_ path: String) -> Bool { (try? node(path)) != nil }
}

// Names.
extension LiveVolume {
    func makeDirectory(_ path: String) throws(Errno) {
        let (parent, name) = try place(path)
        volume.forget(try volume.makeDirectory(name, in: parent, mode: 0o755, caller: Self.caller).node, count: 1)
    }
    func symlink(_ path: String) throws(Errno) {
        let (parent, name) = try place(path)
        let entry = try volume.makeSymbolicLink(to: "target", name, in: parent, caller: Self.caller)
        volume.forget(entry.node, count: 1)
    }
    func makeFIFO(_ path: String) throws(Errno) {
        let (parent, name) = try place(path)
        let entry = try volume.makeNode(name, in: parent, mode: S_IFIFO | 0o644, device: 0, caller: Self.caller)
        volume.forget(entry.node, count: 1)
    }
    func unlink(_ path: String, caller: Caller = caller) throws(Errno) {
        let (parent, name) = try place(path)
        try volume.unlink(name, in: parent, caller: caller)
    }
    func removeDirectory(_ path: String) throws(Errno) {
        let (parent, name) = try place(path)
        try volume.removeDirectory(name, in: parent, caller: Self.caller)
    }
    func rename(_ old: String, _ new: String, flags: UInt32 = 0) throws(Errno) {
        let (from, to) = (try place(old), try place(new))
        try volume.rename(from.name, in: from.parent, to: to.name, in: to.parent, flags: flags, caller: Self.caller)
    }
    func link(_ old: String, _ new: String) throws(Errno) { try link(try node(old), new) }
    func link(_ node: Node, _ new: String) throws(Errno) {
        let (parent, name) = try place(new)
        let entry = try volume.link(node, as: name, in: parent, caller: Self.caller)
        volume.forget(entry.node, count: 1)
    }
}

// Files.
extension LiveVolume {
    /// Makes a call, and announces its purges before it returns the outcome.
    func announcing<Value: Sendable>(
        _ body: (inout AnnouncementDebt) throws(Errno) -> Value
    ) throws(Errno) -> Value {
        try volume.answering(body).announced()
    }
    func create(_ path: String, _ flags: Int32 = O_RDWR | O_CREAT | O_EXCL) throws(Errno) -> Handle {
        let (parent, name) = try place(path)
        let (entry, handle) = try volume.create(
            name, in: parent, mode: 0o644, flags: flags, caller: Self.caller, offersPassthrough: false)
        volume.forget(entry.node, count: 1)
        return handle
    }
    func makeTemporary(_ directory: String) throws(Errno) -> Handle {
        let (entry, handle) = try volume.makeTemporary(
            in: try node(directory), mode: 0o644, flags: O_RDWR, caller: Self.caller)
        volume.forget(entry.node, count: 1)
        return handle
    }
    func open(_ path: String, _ flags: Int32 = O_RDWR) throws(Errno) -> Handle {
        try volume.open(try node(path), flags: flags, caller: Self.caller, offersPassthrough: false)
    }
    /// Creates a closed file with data in this many blocks.
    func make(_ path: String, blocks: Int) throws {
        let handle = try create(path)
        defer { volume.close(handle) }
        let count = try write(handle, at: 0, blocks * Self.block)
        guard count == blocks * Self.block else { throw TestFailure("\(path) took \(count) bytes") }
    }

    /// Makes one write(2), and returns the number of bytes written.
    @discardableResult
    func write(_ handle: Handle, at offset: Int64, _ count: Int, isMapped: Bool = false) throws(Errno) -> Int {
        let request = WriteRequest(
            offset: offset, length: count, isMapped: isMapped, dropsPrivileges: false, tid: Self.tid)
        return try announcing { (debt) throws(Errno) in
            try volume.fileData.write(
                handle, request,
                TestData { (fd, bytes) throws(Errno) in
                    try Self.put(fd, bytes.count, offset + Int64(bytes.lowerBound))
                }, debt: &debt)
        }
    }
    @discardableResult
    func write(
        _ handle: Handle, at offset: Int64, _ count: Int, isMapped: Bool = false, dropsPrivileges: Bool = false,
        perform: @escaping (Int32, Int) throws(Errno) -> Int
    ) throws(Errno) -> Int {
        let request = WriteRequest(
            offset: offset, length: count, isMapped: isMapped, dropsPrivileges: dropsPrivileges, tid: Self.tid)
        return try announcing { (debt) throws(Errno) in
            try volume.fileData.write(
                handle, request, TestData { (fd, bytes) throws(Errno) in try perform(fd, bytes.count) }, debt: &debt)
        }
    }
    static func put(_ fd: Int32, _ count: Int, _ offset: Int64) throws(Errno) -> Int {
        try [UInt8](repeating: 0xA7, count: count).withUnsafeBytes { bytes in
            Result { () throws(Errno) in try System.pwrite(fd, bytes, offset: offset) }
        }.get()
    }

    func allocate(_ handle: Handle, _ mode: Int32, _ offset: Int64, _ length: Int64) throws(Errno) {
        let request = AllocationRequest(mode: mode, offset: offset, length: length, tid: Self.tid)
        try announcing { (debt) throws(Errno) in try volume.allocate(handle, request, debt: &debt) }
    }
    func truncate(_ path: String, _ size: Int64) throws(Errno) { try truncate(try node(path), nil, size) }
    func truncate(_ node: Node, _ handle: Handle?, _ size: Int64) throws(Errno) {
        try change(node, handle) { $0.size = size }
    }
    /// Makes a setattr call with the attributes that `apply` sets.
    func change(_ node: Node, _ handle: Handle?, _ apply: (inout AttributeChange) -> Void) throws(Errno) {
        var change = AttributeChange(caller: Self.caller)
        apply(&change)
        _ = try announcing { (debt) throws(Errno) in
            try volume.setAttributes(of: node, handle: handle, change, debt: &debt)
        }
    }
    func copy(_ from: Handle, _ offset: Int64, to: Handle, _ toOffset: Int64, _ length: Int) throws(Errno) {
        let request = WriteRequest(
            offset: toOffset, length: length, isMapped: false, dropsPrivileges: false, tid: Self.tid)
        _ = try announcing { (debt) throws(Errno) in
            try volume.copy(from: from, offset: offset, to: to, request, debt: &debt)
        }
    }
    /// Sets isPurgeable, or removes it if the value is nil.
    func mark(_ path: String, _ value: String?) throws(Errno) {
        if let value { try set("isPurgeable", of: path, to: value) } else { try remove("isPurgeable", from: path) }
    }
    /// Sets an extended attribute, by its whole name or by the part after `user.purgefs.`.
    func set(_ name: String, of path: String, to value: String) throws(Errno) {
        try volume.extendedAttributes.set(
            of: try node(path), named: Self.attribute(name), to: Array(value.utf8), flags: 0, caller: Self.caller)
    }
    func remove(_ name: String, from path: String) throws(Errno) {
        try volume.extendedAttributes.remove(of: try node(path), named: Self.attribute(name), caller: Self.caller)
    }
    private static func attribute(_ name: String) -> String { name.contains(".") ? name : "user.purgefs." + name }
    /// Returns st_blocks x 512.
    func charged(_ node: Node) throws(Errno) -> Int64 { Int64(try volume.attributes(of: node).status.st_blocks) * 512 }
    func chargedBlocks(_ path: String) throws(Errno) -> Int64 { try charged(try node(path)) / 4096 }
}

/// The data of a write. A test's `perform` puts it into the file, or fails.
struct TestData: WriteData {
    let perform: (Int32, Range<Int>) throws(Errno) -> Int

    func put(_ bytes: Range<Int>, into descriptor: Int32, at offset: Int64) throws(Errno) -> Int {
        try perform(descriptor, bytes)
    }
}

extension UnpaidAnswer {
    /// Returns the outcome, without waiting for the kernel to learn of the purge.
    consuming func announced() throws(Errno) -> Value {
        let outcome = outcome
        pay { _ in
        } later: {
            { _ in }
        }
        return try outcome.get()
    }
}

extension LiveVolume {
    /// Waits until only `count` files may still be mapped. A process that another test starts has copies of our descriptors
    /// until its exec, and the kernel grants no lease while it has one. The volume tries again each second.
    func awaitMappings(left count: Int) throws {
        try eventually("\(count) mappings") {
            volume.settleMappings()
            return volume.read { $0.lingering.count } == count
        }
    }
}

extension Purger {
    /// Carries out the purge that a test has chosen. Returns the freed bytes; nil if nothing was chosen, or if the purge was
    /// not enough.
    func carryOut(_ chosen: inout Purge?, _ debt: inout AnnouncementDebt) -> ByteCount? {
        guard let purge = chosen.take() else { return nil }
        var freed = ByteCount.zero
        return carryOut(purge, &debt) { freed += $0.freed } ? freed : nil
    }
}
