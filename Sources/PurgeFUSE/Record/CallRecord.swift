import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Synchronization

/// The record of a mount: a line for each call that matters to the app (docs/POWER.md).
public final class CallRecord: Sendable {
    private struct State {
        /// The calls that have not been answered.
        var begun: [UInt64: RecordedCall] = [:]
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
        let call = server.isOwn(request) ? nil : RecordedCall(request, server, keepsData: keepsData)
        // With rules of faults, `setMoment` tells the number.
        let isCounted = !server.areFaultsSet
        state.withLock { state in
            if let kind, isCounted { state.moments[kind, default: 0] += 1 }
            guard var call else { return }
            // A name that is not UTF-8 has no form in the record.
            let isWhole = ![call.path, call.other, call.text].contains {
                $0?.unicodeScalars.contains("\u{FFFD}") == true
            }
            if !isWhole, state.failure == nil { state.failure = .illegalByteSequence }
            if let kind, isCounted { call.moment = state.moments[kind] }
            call.process = request.thread
            if call.kind == .sync { call.after = state.count }
            state.begun[request.unique] = call
        }
    }

    /// Notes the number that a call has among those of its kind, which rules of faults count.
    func setMoment(_ number: Int64, of request: RawRequest) {
        state.withLock { $0.begun[request.unique]?.moment = number }
    }

    /// Gives an open the name that its file has now, because that may have changed while the call was served. A rename or link
    /// that has happened and has no line yet does not count.
    private func renew(_ unique: UInt64, _ error: Int32, _ server: Server) {
        guard error == 0 else { return }
        // Other calls may be recorded meanwhile, but hardly that often.
        for _ in 0..<100 {
            let found = state.withLock { state in
                state.begun[unique].flatMap { $0.call == .open ? $0.node : nil }.map { ($0, state.count) }
            }
            guard let (node, count) = found else { return }
            let path = server.path(node)
            let isRenewed = state.withLock { state in
                guard state.count == count else { return false }
                let isAhead = state.begun.values.contains { call in
                    let new = call.call == .rename ? call.other : call.call == .link ? call.path : nil
                    return new.map { path == $0 || path.hasPrefix($0 + "/") } == true
                }
                if !isAhead { state.begun[unique]?.path = path }
                return true
            }
            if isRenewed { return }
        }
    }

    /// Writes the line before the answer is sent. So a call that began after another one had returned comes after it.
    func end(_ unique: UInt64, _ error: Int32, _ body: UnsafeRawPointer?, _ size: Int, _ server: Server) {
        renew(unique, error, server)
        state.withLock { state in
            guard var call = state.begun.removeValue(forKey: unique), state.failure == nil else { return }
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
    fileprivate init?(_ request: RawRequest, _ server: Server, keepsData: Bool) {
        guard let name = Name(request) else { return nil }
        let path = TracedCall.path(of: request, server)
        self.init(name, path: path)
        let node = UInt64(request.node)
        switch name {
        case .open: (self.node, flags) = (node, request.word(40))
        case .create: (flags, mode) = (request.word(40), request.mode(44, mask: 48))
        case .tmpfile: (self.path, flags, mode) = ("", request.word(40), request.mode(44, mask: 48))
        case .mknod: (mode, device) = (request.mode(40, mask: 48), request.word(44))
        case .mkdir: mode = request.mode(40, mask: 44)
        case .symlink: text = request.text(40, number: 1)
        case .link: (self.node, other) = (request.firstWord, server.path(request.firstWord))
        case .rename:
            let hasFlags = request.number == 45
            other = server.path(request.firstWord, request.text(hasFlags ? 56 : 48, number: 1))
            flags = hasFlags ? request.word(48) : nil
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
