import Glibc
import PurgeStore
import PurgeSystem

/// A directory that is made beside the place where it is to be, under a hidden name, and gets its own name when it is
/// complete. What a killed process has left under that name is removed by the next one that makes the same directory.
final class UnfinishedDirectory {
    /// Where it is to be; absolute.
    let path: String
    /// Where it is made.
    var workPath: String { "\(parentPath == "/" ? "" : parentPath)/\(workName)" }
    private(set) var descriptor: FileDescriptor
    private let parent: FileDescriptor
    private let parentPath: String
    private let name: String
    private let workName: String

    /// What is made, and what the entries of one are called.
    struct Kind: Sendable {
        var what: String
        var suffix: String
        var isOurs: @Sendable (String) -> Bool
    }

    /// `given` must not exist, or be an empty directory.
    init(for given: String, _ kind: Kind) throws(StoreError) {
        func failed(_ error: Errno) -> StoreError { .failed("\(kind.what) cannot be made", path: given, error) }
        do throws(Errno) {
            path = try System.resolvedOrParent(given)
            guard let name = path.pathNames.last else { throw .busy }
            self.name = name
            parentPath = path.parentPath
            parent = try FileDescriptor.open(parentPath, O_RDONLY | O_DIRECTORY)
        } catch { throw failed(error) }
        workName = ".\(name)\(kind.suffix)"
        try Self.checkPlace(name, in: parent, given, kind)
        do throws(Errno) {
            try Self.makeDirectory(workName, in: parent)
            descriptor = try parent.open(workName, O_RDONLY | O_DIRECTORY)
            try System.lockExclusively(descriptor.raw)
        } catch .exists {
            descriptor = try Self.replaceRemains(workName, in: parent, given, kind)
        } catch { throw failed(error) }
    }

    private static func makeDirectory(_ name: String, in parent: FileDescriptor) throws(Errno) {
        try System.makeDirectory(at: parent.raw, name, mode: 0o700)
    }

    private static func checkPlace(
        _ name: String, in parent: FileDescriptor, _ given: String, _ kind: Kind
    ) throws(StoreError) {
        do throws(Errno) {
            guard try parent.open(name, O_RDONLY | O_DIRECTORY).names().isEmpty else { throw .notEmpty }
        } catch .noEntry {} catch .notEmpty {
            throw StoreError(
                "the directory is not empty", path: given,
                advice: "Name a new or an empty directory for \(kind.what). Nothing was changed.")
        } catch .notDirectory {
            throw StoreError(
                "is not a directory", path: given,
                advice: "Name a new or an empty directory for \(kind.what). Nothing was changed.")
        } catch { throw .failed("\(kind.what) cannot be made", path: given, error) }
    }

    /// What has the name already is removed if it is of this kind and no process is making it.
    private static func replaceRemains(
        _ name: String, in parent: FileDescriptor, _ given: String, _ kind: Kind
    ) throws(StoreError) -> FileDescriptor {
        let inTheWay = "\(given.parentPath)/\(name)"
        do throws(Errno) {
            let found = try parent.open(name, O_RDONLY | O_DIRECTORY)
            try System.lockExclusively(found.raw)
            let names = try found.open(".", O_RDONLY | O_DIRECTORY).names()
            let texts = names.map { String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
            guard texts.allSatisfy({ kind.isOurs($0) || TreeRemoval.isOwnName($0) }) else { throw .exists }
            try TreeRemoval.run(name, in: parent)
            try makeDirectory(name, in: parent)
            let made = try parent.open(name, O_RDONLY | O_DIRECTORY)
            try System.lockExclusively(made.raw)
            return made
        } catch .tryAgain {
            throw StoreError(
                "another process is already making \(kind.what) there", path: given, advice: "Wait until it has ended.")
        } catch .exists {
            throw StoreError(
                "there is something else under the name that \(kind.what) has until it is complete", path: inTheWay,
                advice: "Move it away.")
        } catch { throw .failed("what an earlier call has left cannot be removed", path: inTheWay, error) }
    }

    /// Releases the lock, so that what is in it can be opened as a store, which has the lock from then on.
    func release() { descriptor = parent }

    /// Gives it its name; from then on it is there whatever happens. What is in it is on disk already.
    func publish(_ what: String) throws(StoreError) {
        do throws(Errno) {
            try System.rename(at: parent.raw, workName, to: parent.raw, name)
            try System.sync(parent.raw)
        } catch .busy {
            throw StoreError(
                "is a mount point", path: path, advice: "Name a directory in it. Nothing was changed.")
        } catch { throw .failed("\(what) cannot be given its name", path: path, error) }
    }

    func discard() {
        do throws(Errno) { try TreeRemoval.run(workName, in: parent) } catch {}  // the next one removes it
    }
}
