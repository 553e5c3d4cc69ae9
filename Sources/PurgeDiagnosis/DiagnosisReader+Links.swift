import Glibc
import PurgeModel
import PurgeSystem

// The targets of symbolic links within the container, computed from the links' texts without following them.
extension DiagnosisReader {
    /// Returns the target of a link if a purge has taken it and its name is free now. If only a part of the history was read,
    /// that part must include the target.
    func purgedTarget(of name: RawText, in folder: Folder) -> DiagnosedEntry.PurgedTarget? {
        guard let path = target(of: name, in: folder) else { return nil }
        let text = String(decoding: path, as: UTF8.self)
        guard let time = container.lastPurge(of: text), isMissing(path) else { return nil }
        return DiagnosedEntry.PurgedTarget(path: text, time: time)
    }

    /// Returns a link's target as a path relative to the container; nil for the container itself, for anything outside of it,
    /// and for a link that cannot be read.
    func target(of name: RawText, in folder: Folder) -> [UInt8]? {
        let text: [UInt8]
        do throws(Errno) {
            text = try System.readLink(at: folder.descriptor.raw, name).map { UInt8(bitPattern: $0) }
        } catch { return nil }
        var names = folder.path.split(separator: Self.slash)
        var rest = text[...]
        if text.first == Self.slash {
            guard let root = container.roots.first(where: { Self.isBelow(text, $0) }) else { return nil }
            (names, rest) = ([], text.dropFirst(root.count))
        }
        for part in rest.split(separator: Self.slash) where !part.elementsEqual(".".utf8) {
            if part.elementsEqual("..".utf8) {
                guard names.popLast() != nil else { return nil }
            } else {
                names.append(part)
            }
        }
        return names.isEmpty ? nil : Array(names.joined(separator: [Self.slash]))
    }

    private static func isBelow(_ path: [UInt8], _ root: [UInt8]) -> Bool {
        path.starts(with: root) && path.dropFirst(root.count).first == slash
    }

    /// Returns true if nothing exists at the path, and false if that cannot be determined.
    func isMissing(_ path: [UInt8]) -> Bool {
        let names = path.split(separator: Self.slash).map { $0.map(CChar.init(bitPattern:)) + [0] }
        do throws(Errno) {
            var folder = container.root
            for name in names.dropLast() { folder = try folder.open(name, O_RDONLY | O_DIRECTORY) }
            for name in names.suffix(1) { _ = try System.status(at: folder.raw, name) }
            return false
        } catch { return error == .noEntry }
    }
}
