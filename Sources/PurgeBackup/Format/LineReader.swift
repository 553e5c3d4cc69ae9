import PurgeStore
import PurgeSystem

/// The lines of a text file, from its beginning.
struct LineReader {
    private let file: FileDescriptor
    private let path: String
    private var offset: Int64 = 0
    private var buffer: [UInt8] = []
    private var position = 0
    /// How many lines were read.
    private(set) var count = 0
    /// Whether the last line read ended with a newline.
    private(set) var isComplete = true

    /// The longest line in bytes. `ManifestWriter` never writes a longer one.
    static let longest = 1 << 20
    private static let chunk = 1 << 16

    init(_ file: FileDescriptor, path: String) { (self.file, self.path) = (file, path) }

    /// Returns the next line without its newline; nil at the end.
    mutating func next() throws(StoreError) -> String? {
        var searched = position
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                return try take(upTo: end, skipping: 1)
            }
            searched = buffer.count - position
            guard try readMore() else { break }
            guard buffer.count <= Self.longest + Self.chunk else {
                throw ManifestReader.damaged(path, "line \(count + 1) is too long")
            }
        }
        guard position < buffer.count else { return nil }
        isComplete = false
        return try take(upTo: buffer.count, skipping: 0)
    }

    private mutating func take(upTo end: Int, skipping: Int) throws(StoreError) -> String {
        guard let line = String(validating: buffer[position..<end], as: UTF8.self) else {
            throw ManifestReader.damaged(path, "line \(count + 1) is not UTF-8")
        }
        position = end + skipping
        count += 1
        return line
    }

    /// Drops the consumed bytes and reads more. Returns false at the end of the file.
    private mutating func readMore() throws(StoreError) -> Bool {
        buffer.removeFirst(position)
        position = 0
        do throws(Errno) {
            let chunk = try file.readSome(Self.chunk, at: offset)
            buffer += chunk
            offset += Int64(chunk.count)
            return !chunk.isEmpty
        } catch { throw .failed("the manifest cannot be read", path: path, error) }
    }
}
