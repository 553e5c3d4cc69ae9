import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import PurgeVolume
import Synchronization

/// The record of a mount: a line for each call that matters to the app (docs/POWER.md).
public final class CallRecord: Sendable {
    private struct Begun {
        var call: RecordedCall
        /// What the call is about, and the new name of a rename, or the file of a link.
        let entry: CalledEntry
        let other: CalledEntry?
        /// What a rename or link changes.
        let change: UnansweredChange?
    }
    private struct State {
        /// The calls that have not been answered.
        var begun: [UInt64: Begun] = [:]
        var moments: [MomentKind: Int64] = [:]
        /// How many lines there are.
        var count = 0
        var failure: Errno?
    }
    private let state = Mutex(State())
    private let output: FileDescriptor
    /// Whether the line of a write has its bytes.
    let keepsData: Bool

    public init(to output: FileDescriptor, keepsData: Bool) { (self.output, self.keepsData) = (output, keepsData) }

    /// Why the record is incomplete; nil if it is not.
    public var failure: Errno? { state.withLock { $0.failure } }

    /// Takes note of a request. Called before the request is served.
    func begin(_ request: RawRequest, _ server: Server) {
        let kind = server.kind(of: request)
        let begun = server.isOwn(request) ? nil : Self.begun(request, server, keepsData: keepsData)
        // With rules of faults, `setMoment` tells the number.
        let isCounted = !server.areFaultsSet
        state.withLock { state in
            if let kind, isCounted { state.moments[kind, default: 0] += 1 }
            guard var begun else { return }
            if let kind, isCounted { begun.call.moment = state.moments[kind] }
            begun.call.process = request.thread
            if begun.call.kind == .sync { begun.call.after = state.count }
            state.begun[request.unique] = begun
        }
    }

    /// Reads a request; nil for one that is not recorded.
    private static func begun(_ request: RawRequest, _ server: Server, keepsData: Bool) -> Begun? {
        guard let call = RecordedCall(request, keepsData: keepsData) else { return nil }
        let (entry, other) = TracedCall.entries(of: request, server)
        let change: UnansweredChange? =
            switch (call.call, entry.dentry, other?.dentry) {
            case (.rename, let from?, let to?):
                server.volume.entry(from).map { UnansweredChange($0, from: from, to: to, exchanges: call.exchanges) }
            case (.link, let to?, _): other.map { UnansweredChange($0.node, from: nil, to: to, exchanges: false) }
            default: nil
            }
        return Begun(call: call, entry: entry, other: other, change: change)
    }

    /// Notes the number that a call has among those of its kind, which rules of faults count.
    func setMoment(_ number: Int64, of request: RawRequest) {
        state.withLock { $0.begun[request.unique]?.call.moment = number }
    }

    /// Writes the line before the answer is sent. So a call that began after another one had returned comes after it.
    func end(_ unique: UInt64, _ error: Int32, _ body: UnsafeRawPointer?, _ size: Int, _ server: Server) {
        state.withLock { state in
            guard let begun = state.begun.removeValue(forKey: unique), state.failure == nil else { return }
            var call = begun.call
            // The names that the files have at this point of the record. The file of a link may have had none.
            let changes =
                state.begun.values.compactMap(\.change) + (call.call == .link ? [begun.change].compactMap(\.self) : [])
            if call.call != .tmpfile { call.path = begun.entry.path(in: server.volume, undoing: changes) }
            call.other = begun.other?.path(in: server.volume, undoing: changes)
            // A name that is not UTF-8 has no form in the record.
            let texts = [call.path, call.other, call.text].compactMap(\.self)
            if texts.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }) {
                state.failure = .illegalByteSequence
                return
            }
            if error != 0 {
                call.error = Errno(-error).name ?? "\(-error)"
            } else {
                call.complete(body, size)
            }
            state.count += 1
            do throws(Errno) { try output.writeAll(Array((JSONText.encode(call) + "\n").utf8)) } catch {
                state.failure = error
            }
        }
    }
}

extension RecordedCall {
    /// Reads a call from a request (struct fuse_*_in of <linux/fuse.h>). Nil for a request that is not recorded.
    fileprivate init?(_ request: RawRequest, keepsData: Bool) {
        guard let name = Name(request) else { return nil }
        self.init(name, path: "")
        let node = UInt64(request.node)
        switch name {
        case .open: (self.node, flags) = (node, request.word(40))
        case .create, .tmpfile: (flags, mode) = (request.word(40), request.mode(44, mask: 48))
        case .mknod: (mode, device) = (request.mode(40, mask: 48), request.word(44))
        case .mkdir: mode = request.mode(40, mask: 44)
        case .symlink: text = request.text(40, number: 1)
        case .link: self.node = request.firstWord
        case .rename:
            flags = request.number == 45 ? request.word(48) : nil
        case .unlink, .rmdir: break
        case .read: (self.node, offset, size) = (node, request.offset, Int64(request.readSize))
        case .write:
            (self.node, offset, size) = (node, request.offset, Int64(request.readSize))
            flags = request.isWriteBack ? nil : request.word(72)
        case .fallocate: (self.node, offset, size, flags) = (node, request.offset, request.wideSize, request.word(64))
        case .truncate: (self.node, size) = (node, request.word(56))
        case .setattr:
            self.node = node
            addAttributes(request)
        case .setxattr: (self.node, text, flags) = (node, request.text(48), request.word(44))
        case .removexattr: (self.node, text) = (node, request.text(40))
        case .fsync, .fsyncdir: (self.node, flags) = (node, request.word(48))
        }
        guard keepsData || name == .setxattr else { return }
        if name == .write { data = request.base64(at: 80, count: request.readSize) }
        if name == .setxattr, let text {
            data = request.base64(at: 48 + text.utf8.count + 1, count: Int(request.word(40, UInt32.self)))
        }
    }

    /// FATTR_* of fuse_setattr_in.valid
    private mutating func addAttributes(_ request: RawRequest) {
        let valid: UInt32 = request.word(40)
        if valid & 1 << 0 != 0 { mode = request.word(108) }
        if valid & 1 << 1 != 0 { owner = request.word(116) }
        if valid & 1 << 2 != 0 { group = request.word(120) }
        if valid & 1 << 4 != 0, valid & 1 << 7 == 0 { accessTime = request.time(72, 96) }
        if valid & 1 << 5 != 0, valid & 1 << 8 == 0 { modificationTime = request.time(80, 100) }
    }

    /// Adds what a successful answer tells.
    fileprivate mutating func complete(_ body: UnsafeRawPointer?, _ size: Int) {
        switch call {
        // fuse_entry_out begins with the number of the node.
        case .create, .tmpfile, .symlink, .mknod, .mkdir: node = body?.loadUnaligned(as: UInt64.self)
        case .read: result = Int64(size)
        case .write: result = body.map { Int64($0.loadUnaligned(as: UInt32.self)) } ?? 0
        default: break
        }
    }
}

extension RecordedCall.Name {
    init?(_ request: RawRequest) {
        switch request.number {
        case 4 where request.changesSize: self = .truncate
        case 45: self = .rename
        default: self.init(rawValue: TracedCall.of(request.number).name)
        }
    }
}

extension RawRequest {
    fileprivate func base64(at offset: Int, count: Int) -> String {
        JSONText.base64(bytes(offset, count: count))
    }

    /// A mode without what the umask forbids.
    fileprivate func mode(_ offset: Int, mask: Int) -> UInt32 { word(offset, UInt32.self) & ~word(mask, UInt32.self) }

    /// A time in nanoseconds from its seconds and its nanoseconds.
    fileprivate func time(_ seconds: Int, _ nanoseconds: Int) -> Int64 {
        let (whole, overflow) = word(seconds, Int64.self).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole &+ Int64(word(nanoseconds, UInt32.self))
    }
}
