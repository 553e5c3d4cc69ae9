import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// A nonexistent path in a container.
struct MissingPath {
    private let target: Target
    /// The last component of the path.
    private let name: String

    private static let slash = UInt8(ascii: "/")
    private static let most = 3

    /// Returns nil if the path exists, cannot be examined, or is not in a container.
    init?(_ raw: RawText) {
        do throws(Errno) {
            _ = try System.status(at: AT_FDCWD, raw)
            return nil
        } catch { guard error == .noEntry else { return nil } }
        var path = raw.dropLast().map { UInt8(bitPattern: $0) }[...]
        while path.last == Self.slash { path.removeLast() }
        name = String(decoding: path.split(separator: Self.slash).last ?? [], as: UTF8.self)
        // The nearest existing folder above determines the container.
        while let end = path.lastIndex(of: Self.slash) {
            path = end == path.startIndex ? path[...end] : path[..<end]
            if let found = Self.target(of: path) {
                target = found
                return
            }
            if path.count == 1 { return nil }
        }
        guard let found = Self.target(of: [UInt8(ascii: ".")]) else { return nil }
        target = found
    }

    private static func target(of path: some Sequence<UInt8>) -> Target? {
        do throws(CommandFailure) {
            return try PathInContainer(path.map(CChar.init(bitPattern:)) + [0], for: DiagnosedContainer.what).target
        } catch { return nil }
    }

    /// Returns advice that lists up to three entries of the same name elsewhere in the container. The app may look in the wrong
    /// folder, or spell the name in another case.
    func advice() throws(CommandFailure) -> String {
        let container = try DiagnosedContainer(target, past: .nothing)
        let form = name.lowercased()
        var found: [String] = []
        try DiagnosisWalk(container).run(below: try DiagnosisReader(container: container).root().folder) {
            (each) throws(CommandFailure) in
            guard found.count < Self.most, let last = each.entry.path.pathNames.last else { return }
            if last.lowercased() == form { found.append(VisibleText.of(each.entry.path)) }
        }
        let gone = "If it was there before, `purgefs why PATH` says what happened to it."
        guard !found.isEmpty else { return "Check the path. \(gone)" }
        return
            "The container has that name at \(found.joined(separator: ", ")):\n  check the folder and the case of the "
            + "path. \(gone)"
    }
}
