import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume
import Synchronization

/// A log of a mount with a line for each request and each event (docs/DEBUGGING.md).
public final class Trace: Sendable {
    /// A kind of line that can be traced on its own.
    public enum Family: String, CaseIterable, Sendable {
        case names, attributes, files, data, directories, xattrs, events
    }
    /// A request that has not been answered.
    private struct Begun {
        let text: String
        let answer: TracedCall.Answer
        let since = System.uptime()
    }
    private let begun = Mutex<[UInt64: Begun]>([:])
    private let family: Family?
    /// nil for standard error.
    private let output: FileDescriptor?

    /// - Parameter family: nil to trace everything.
    public init(_ family: Family?, to output: FileDescriptor? = nil) { (self.family, self.output) = (family, output) }

    private func includes(_ other: Family?) -> Bool { family == nil || family == other }

    /// Starts to trace events.
    func start(_ volume: Volume) {
        guard includes(.events) else { return }
        let events = volume.events.addReader()
        // Weak, because the reader owns this closure. The volume keeps the reader.
        events.onData { [weak events] in
            while let lines = events?.take(limit: .max), !lines.isEmpty {
                for line in lines.split(separator: UInt8(ascii: "\n")) {
                    self.write("event \(String(decoding: line, as: UTF8.self))")
                }
            }
        }
    }

    func begin(_ request: RawRequest, _ server: Server) {
        let call = TracedCall.of(request.number)
        guard includes(call.family) else { return }
        let text = ([call.name] + operands(of: request, call.operands, server)).joined(separator: " ")
        if call.answer == .none { return write(text) }
        let begun = Begun(text: "\(text) by \(request.thread)", answer: call.answer)
        self.begun.withLock { $0[request.unique] = begun }
    }

    /// Writes the line before the answer is sent, so every call that has returned has its line.
    func end(_ unique: UInt64, _ error: Int32, _ body: UnsafeRawPointer?, _ size: Int) {
        guard let request = begun.withLock({ $0.removeValue(forKey: unique) }) else { return }
        let result =
            switch request.answer {
            case _ where error != 0: Errno(-error).name ?? "error \(-error)"
            case .entry: body?.loadUnaligned(as: UInt64.self) == 0 ? "ENOENT" : "0"
            case .size: "\(size)"
            case .count: "\(body?.loadUnaligned(as: UInt32.self) ?? 0)"
            case .success, .none: "0"
            }
        write("\(request.text) = \(result) in \(Self.microseconds(since: request.since)) us")
    }

    /// Writes a line for each request that waits for its answer, for diagnosing a hang.
    func tellBegun() {
        for request in begun.withLock({ Array($0.values) }) {
            write("\(request.text) waits for \(Self.microseconds(since: request.since)) us")
        }
    }

    private static func microseconds(since moment: Int64) -> Int64 { (System.uptime() - moment) / 1000 }

    private func write(_ text: String) {
        let line = Array("\(Instant(nanoseconds: System.now()).iso8601) \(text)\n".utf8)
        do throws(Errno) {
            _ = try System.write(output?.raw ?? STDERR_FILENO, line)
        } catch {}  // the mount does not depend on the trace
    }
}

// The operands in the line of a request.
extension Trace {
    private func operands(of request: RawRequest, _ operands: TracedCall.Operands, _ server: Server) -> [String] {
        func path(_ id: UInt64, _ name: String? = nil) -> String { Self.quoted(server.path(id, name)) }
        let node = UInt64(request.node)
        switch operands {
        case .nothing: return []
        case .node: return [path(node)]
        case .entry(let at): return [path(node, request.text(at))]
        case .entries(let at):
            return [path(node, request.text(at)), path(request.firstWord, request.text(at, number: 1))]
        case .link(let at): return [path(node, request.text(at)), path(request.firstWord)]
        case .entryAndText(let at):
            return [path(node, request.text(at)), Self.quoted(request.text(at, number: 1))]
        case .attribute(let at): return [path(node), Self.quoted(request.text(at))]
        case .range(let isWide):
            let size = isWide ? request.wideSize : Int64(request.readSize)
            return [path(node), "\(request.offset)+\(size)"]
        }
    }

    private static func quoted(_ text: String) -> String { JSONText.encode(text) }
}
