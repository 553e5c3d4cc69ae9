import FoundationEssentials
import Glibc
import PurgeStore
import PurgeSystem
import Testing

/// A directory for one test, removed with everything in it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/purgefs-store-test.XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template))
        path = String(cString: made)
    }
    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch { print("cannot remove \(path): \(error)") }
    }

    subscript(name: String) -> String { path + "/" + name }

    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }
    func write(_ bytes: [UInt8], to name: String) throws {
        try FileDescriptor.open(self[name], O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644).writeAll(bytes)
    }
    func read(_ name: String) throws -> String {
        String(decoding: try FileDescriptor.open(self[name], O_RDONLY).readAll(), as: UTF8.self)
    }
    /// Copies a file without the last `dropping` bytes.
    func copy(_ name: String, to other: String, dropping: Int = 0) throws {
        try write(try FileDescriptor.open(self[name], O_RDONLY).readAll().dropLast(dropping), to: other)
    }
    func makeDirectory(_ name: String) throws { try System.makeDirectory(at: AT_FDCWD, self[name], mode: 0o755) }
    func removeFile(_ name: String) throws { try System.unlink(at: AT_FDCWD, self[name]) }
    func exists(_ name: String) -> Bool { access(self[name], F_OK) == 0 }

    /// Returns the names in a directory, sorted, without `.` and `..`.
    func names(in name: String = ".") -> [String] {
        guard let directory = opendir(self[name]) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }
}

/// Returns the StoreError that `body` throws; fails the test if it throws none.
func storeError(_ body: () throws -> Void, _ location: SourceLocation = #_sourceLocation) throws -> StoreError {
    let error = #expect(throws: StoreError.self, sourceLocation: location) { try body() }
    return try #require(error, sourceLocation: location)
}
