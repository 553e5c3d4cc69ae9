import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// The control directory: found by name at the root, never listed there.
public final class ControlTree: Sendable {
    static let name: StaticString = ".purgefs"
    /// The first inode number of the control entries, above any number that a store's file system gives.
    private static let firstInode: UInt64 = .max - 100

    let directory: Node
    private let files: [Node]
    private let owner: uid_t
    private let group: gid_t
    private let made: Instant
    private let pressureReaders = Mutex<[ObjectIdentifier: ControlHandle]>([:])

    init(owner: uid_t, group: gid_t, made: Instant) {
        self.made = made
        self.owner = owner
        self.group = group
        directory = Node(inode: Self.firstInode, kind: .controlDirectory, name: Name(Self.name))
        files = ControlFile.allCases.enumerated().map { index, file in
            file.rawValue.withCString {
                Node(inode: Self.firstInode + 1 + UInt64(index), kind: .controlFile, name: Name($0))
            }
        }
    }

    static func isReserved(_ name: CName) -> Bool { strcmp(name, ".purgefs") == 0 }

    func directory(named name: CName) -> Entry? {
        Self.isReserved(name) ? Entry(node: directory, attributes: attributes(of: directory)) : nil
    }

    func lookup(_ name: CName, in parent: Node) throws(Errno) -> Entry {
        guard parent === directory, let at = ControlFile.allCases.firstIndex(where: { strcmp($0.rawValue, name) == 0 })
        else { throw .noEntry }
        return Entry(node: files[at], attributes: attributes(of: files[at]))
    }

    public func file(_ node: Node) -> ControlFile? {
        files.firstIndex { $0 === node }.map { ControlFile.allCases[$0] }
    }

    func attributes(of node: Node) -> Attributes {
        var status = stat()
        status.st_ino = UInt(node.inode)
        status.st_uid = owner
        status.st_gid = group
        status.st_blksize = 4096
        let time = made.timespec
        (status.st_atim, status.st_mtim, status.st_ctim) = (time, time, time)
        if let file = file(node) {
            status.st_mode = S_IFREG | 0o400 | (file.canWrite ? 0o200 : 0)
            status.st_nlink = 1
        } else {
            status.st_mode = S_IFDIR | 0o700
            status.st_nlink = 2
        }
        return Attributes(ofControl: status)
    }

    func read(_ node: Node, offset: Int64, _ body: (DirectoryEntry) -> Bool) {
        let names = [".", ".."] + ControlFile.allCases.map(\.rawValue)
        for at in Int(max(0, offset))..<max(Int(offset), names.count) {
            let inode = at < 2 ? directory.inode : files[at - 2].inode
            let isTaken = names[at].withCString { name in
                let entry =
                    at < 2 ? nil : Entry(node: files[at - 2], attributes: attributes(of: files[at - 2]))
                return body(
                    DirectoryEntry(
                        name: name, inode: inode, next: Int64(at + 1), type: UInt8(at < 2 ? DT_DIR : DT_REG),
                        entry: entry))
            }
            if !isTaken { return }
        }
    }

    func addPressureReader(_ handle: ControlHandle) {
        pressureReaders.withLock { $0[ObjectIdentifier(handle)] = handle }
    }
    func removePressureReader(_ handle: ControlHandle) {
        pressureReaders.withLock { $0[ObjectIdentifier(handle)] = nil }
    }
    func levelChanged() {
        let handles = pressureReaders.withLock { Array($0.values) }
        for handle in handles { handle.wake() }
    }
}

/// One open control file.
public final class ControlHandle: Sendable {
    public let file: ControlFile
    /// The reader of `events`; nil for other files.
    public let reader: EventReader?
    /// Whether the file was opened for reading.
    let isReadable: Bool
    private struct State {
        var content: [UInt8] = []
        var levelChangesSeen: UInt64 = 0
        var onChange: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    init(file: ControlFile, reader: EventReader?, isReadable: Bool = true) {
        self.file = file
        self.isReadable = isReadable
        self.reader = reader
    }

    /// The fh by which the kernel identifies the open file.
    // Unmanaged: no reference is taken, only the address is read.
    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }

    var content: [UInt8] {
        get { state.withLock { $0.content } }
        set { state.withLock { $0.content = newValue } }
    }

    func bytes(from offset: Int64, limit: Int) -> [UInt8] {
        Array(content.dropFirst(Int(max(0, offset))).prefix(limit))
    }

    var levelChangesSeen: UInt64 {
        get { state.withLock { $0.levelChangesSeen } }
        set { state.withLock { $0.levelChangesSeen = newValue } }
    }
    /// Sets an action that is called, on any thread, when the result of poll(2) changes.
    public func onChange(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onChange = action }
        reader?.onChange(action)
    }
    func wake() { state.withLock { $0.onChange }?() }
}
