import CFuse
import PurgeTree
import PurgeVolume

/// What a call is about: a node, or a name in a directory.
struct CalledEntry {
    let node: Node
    let name: String?

    /// The path relative to the container.
    func path(in volume: Volume, undoing changes: [UnansweredChange] = []) -> String {
        volume.path(of: node, name, undoing: changes)
    }

    var dentry: Dentry? { name.map { Dentry(directory: node, name: Name($0)) } }
}

/// How a line of the trace shows the requests of one opcode (struct fuse_*_in of <linux/fuse.h>).
struct TracedCall {
    let name: String
    let family: Trace.Family?
    let operands: Operands
    let answer: Answer

    /// The operands of a request. A number is the offset at which a name begins.
    enum Operands {
        case nothing
        case node
        /// A name in the directory of the request.
        case entry(Int)
        /// Two names, the second in the directory whose number is given first.
        case entries(Int)
        /// A new name for a node that is given first.
        case link(Int)
        /// A new name, followed by a string.
        case entryAndText(Int)
        /// An attribute of the node.
        case attribute(Int)
        /// A range of bytes: a handle, an offset, and a length of 32 or 64 bits.
        case range(isWide: Bool)
    }

    /// The part of a successful answer that is shown.
    enum Answer {
        case success
        /// An entry. Its node is 0 if the name does not exist and the kernel may cache that.
        case entry
        /// The number of bytes in the answer.
        case size
        /// The number at the beginning of the answer: how many bytes were written.
        case count
        /// The kernel expects no answer.
        case none
    }

    private init(_ name: String, _ family: Trace.Family?, _ operands: Operands, _ answer: Answer = .success) {
        (self.name, self.family, self.operands, self.answer) = (name, family, operands, answer)
    }

    /// Returns the path that a call is about, relative to the container: of a rename the old one, of a link the new one.
    static func path(of request: RawRequest, _ server: Server) -> String {
        entries(of: request, server).first.path(in: server.volume)
    }

    /// Returns what a call is about, and the second entry of a call that has two.
    static func entries(of request: RawRequest, _ server: Server) -> (first: CalledEntry, second: CalledEntry?) {
        let node = server.node(request.node)
        func first() -> Node { server.node(fuse_ino_t(request.firstWord)) }
        switch of(request.number).operands {
        case .entry(let at), .entryAndText(let at): return (CalledEntry(node: node, name: request.text(at)), nil)
        case .entries(let at):
            return (
                CalledEntry(node: node, name: request.text(at)),
                CalledEntry(node: first(), name: request.text(at, number: 1))
            )
        case .link(let at):
            return (CalledEntry(node: node, name: request.text(at)), CalledEntry(node: first(), name: nil))
        // The header of a copy names the file that is read; fuse_copy_file_range_in.nodeid_out is the other one.
        case .node where request.opcode == .copyFileRange:
            return (CalledEntry(node: server.node(fuse_ino_t(request.copiedTo)), name: nil), nil)
        case .nothing, .node, .attribute, .range: return (CalledEntry(node: node, name: nil), nil)
        }
    }

    static func of(_ opcode: UInt32) -> TracedCall { calls[opcode] ?? TracedCall("opcode \(opcode)", nil, .node) }

    private static let calls: [UInt32: TracedCall] = [
        1: .init("lookup", .names, .entry(40), .entry), 2: .init("forget", .names, .node, .none),
        3: .init("getattr", .attributes, .node), 4: .init("setattr", .attributes, .node),
        5: .init("readlink", .names, .node), 6: .init("symlink", .names, .entryAndText(40)),
        8: .init("mknod", .names, .entry(56)), 9: .init("mkdir", .names, .entry(48)),
        10: .init("unlink", .names, .entry(40)), 11: .init("rmdir", .names, .entry(40)),
        12: .init("rename", .names, .entries(48)), 13: .init("link", .names, .link(48)),
        14: .init("open", .files, .node), 15: .init("read", .data, .range(isWide: false), .size),
        16: .init("write", .data, .range(isWide: false), .count), 17: .init("statfs", .attributes, .node),
        18: .init("release", .files, .node), 20: .init("fsync", .data, .node),
        21: .init("setxattr", .xattrs, .attribute(48)), 22: .init("getxattr", .xattrs, .attribute(48)),
        23: .init("listxattr", .xattrs, .node), 24: .init("removexattr", .xattrs, .attribute(40)),
        26: .init("init", nil, .nothing), 27: .init("opendir", .directories, .node),
        28: .init("readdir", .directories, .range(isWide: false), .size),
        29: .init("releasedir", .directories, .node), 30: .init("fsyncdir", .directories, .node),
        35: .init("create", .files, .entry(56)),
        36: .init("interrupt", nil, .nothing, .none), 38: .init("destroy", nil, .nothing),
        39: .init("ioctl", .files, .node), 40: .init("poll", .files, .node),
        42: .init("batch_forget", .names, .nothing, .none),
        43: .init("fallocate", .data, .range(isWide: true)),
        44: .init("readdirplus", .directories, .range(isWide: false), .size),
        45: .init("rename2", .names, .entries(56)), 46: .init("lseek", .data, .node),
        47: .init("copy_file_range", .data, .node, .count),
        50: .init("syncfs", .data, .node), 51: .init("tmpfile", .files, .node),
        52: .init("statx", .attributes, .node),
    ]
}
