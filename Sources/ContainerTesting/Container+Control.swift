internal import CContainerCalls
import Foundation

extension Container {
    /// Returns the content of a control file, without newlines at the beginning and the end: docs/CONTROL.md.
    public func read(_ file: String) throws -> String {
        let text = try control(file, O_RDONLY) { try $0.content() }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Writes a command to a control file. Throws `refused` if the command fails.
    public func write(_ file: String, _ command: String) throws {
        try control(file, O_WRONLY) { try $0.carryOut(command, file) }
    }

    private func control<R>(_ file: String, _ flags: Int32, _ body: (Descriptor) throws -> R) throws -> R {
        guard !hasEnded else { throw ContainerError.ended(path) }
        let descriptor = try Descriptor.open("\(path)/.purgefs/\(file)", flags)
        defer { descriptor.close() }
        return try body(descriptor)
    }

    /// Writes a command to storage.reclaim or storage.plan, and returns the answer. Throws `purgeIncomplete`.
    func answer(_ file: String, _ command: String) throws -> [Purged] {
        try control(file, O_RDWR) { descriptor in
            var isComplete = true
            do {
                try descriptor.carryOut(command, file)
            } catch ContainerError.refused(_, _, EAGAIN) { isComplete = false }
            let answer = try PurgeAnswer(descriptor.content())
            if !isComplete { try answer.fail(command) }
            return answer.purged
        }
    }

    /// The content of status.json. All its values are from one moment.
    public var status: Status { get throws { try Lines.decode(Status.self, from: Data(read("status.json").utf8)) } }

    /// The capacities and the pressure, all from one moment.
    public var numbers: Numbers { get throws { Numbers(try status) } }

    // MARK: Extended attributes

    /// Sets flags of a file or folder; nil leaves a flag unchanged. The last four are for folders (docs/XATTRS.md). Throws
    /// `ended`, `outside`, or `failed`, for example with EINVAL, EPERM or ENOENT; flags that were set before the failure stay
    /// set.
    public func mark(
        _ place: some ContainerPath, purgeable: Urgency? = nil, excluded: Bool? = nil,
        protection: ProtectionClass? = nil, after: Span? = nil, limit: Size? = nil, group: Bool? = nil,
        tombstone: Bool? = nil
    ) throws {
        let values: [(String, String?)] = [
            ("isPurgeable", purgeable?.rawValue), ("isExcludedFromBackup", excluded.map { $0 ? "1" : "0" }),
            ("fileProtection", protection?.rawValue), ("purgeAfter", after?.description),
            ("sizeLimit", limit?.description), ("purgeGroup", group.map { $0 ? "1" : "0" }),
            ("purgeTombstone", tombstone.map { $0 ? "1" : "0" }),
        ]
        guard !hasEnded else { throw ContainerError.ended(path) }
        let file = try absolute(place)
        for case (let name, let value?) in values {
            let bytes = Array(value.utf8)
            guard container_set_attribute(file, "user.purgefs.\(name)", bytes, bytes.count) == 0 else {
                throw ContainerError.failed("setting \(name)=\(value)", file, errno)
            }
        }
    }

    /// Returns an attribute of a file, or nil if the file does not have it. The name is a flag of `mark`, or follows
    /// `user.purgefs.`, for example `tier` or `isPurgeable`: docs/XATTRS.md.
    public func attribute(_ name: String, of place: some ContainerPath) throws -> String? {
        guard !hasEnded else { throw ContainerError.ended(path) }
        let file = try absolute(place)
        var value = [UInt8](repeating: 0, count: 4096)
        let count = container_attribute(file, "user.purgefs.\(flags[name] ?? name)", &value, value.count)
        if count < 0, errno == ENODATA { return nil }
        guard count >= 0 else { throw ContainerError.failed("reading \(name)", file, errno) }
        return String(decoding: value[..<count], as: UTF8.self)
    }
}

extension Descriptor {
    /// Writes a command to the control file with this name, in one write(2), because each write is one command.
    fileprivate func carryOut(_ command: String, _ file: String) throws {
        let bytes = Array(command.utf8)
        let code = with { number in
            while true {
                if Foundation.write(number, bytes, bytes.count) >= 0 { return Int32(0) }
                if errno != EINTR { return errno }
            }
        }
        if code != 0 { throw ContainerError.refused(file, command, code) }
    }
}

/// The attributes of the flags of `mark`.
private let flags: [String: String] = [
    "purgeable": "isPurgeable", "excluded": "isExcludedFromBackup", "protection": "fileProtection",
    "after": "purgeAfter", "limit": "sizeLimit", "group": "purgeGroup", "tombstone": "purgeTombstone",
]

private struct PurgeAnswer {
    var purged: [Container.Purged] = []
    var refused: [Container.Refusal] = []

    init(_ text: Data) throws {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            if let refusal = try? Lines.decode(Container.Refusal.self, from: line) {
                refused.append(refusal)
            } else {
                purged.append(try Lines.decode(Container.Purged.self, from: line))
            }
        }
    }

    func fail(_ command: String) throws -> Never {
        throw ContainerError.purgeIncomplete(command.split(separator: "\0").joined(separator: " "), purged, refused)
    }
}
