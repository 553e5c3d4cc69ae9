import Glibc
import PurgeSystem

/// An inotify watch of one directory: for removed names and modified files, or for names that come and go.
public final class DirectoryWatch {
    public enum Interest { case removals, moves }

    private let descriptor: Int32
    public private(set) var deleted: [String] = []
    public private(set) var modified: [String] = []
    /// Names that were created or moved here.
    public private(set) var arrived: [String] = []
    public private(set) var movedAway: [String] = []
    /// Whether the directory itself was renamed.
    public private(set) var hasMoved = false

    public init(_ path: String, for interest: Interest = .removals) throws(Errno) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard descriptor >= 0 else { throw Errno(errno) }
        let mask =
            interest == .removals ? IN_DELETE | IN_MODIFY : IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF
        guard inotify_add_watch(descriptor, path, UInt32(mask)) >= 0 else {
            let code = errno
            close(descriptor)
            throw Errno(code)
        }
    }
    deinit { close(descriptor) }

    /// Reads the events that have arrived, without waiting.
    public func collect() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { return }
            var offset = 0
            while offset < count { offset += takeEvent(buffer[offset..<count]) }
        }
    }

    /// Takes a struct inotify_event and returns its size. It has wd, mask, cookie and len (32 bits each), then the name, padded
    /// with zeros.
    private func takeEvent(_ bytes: ArraySlice<UInt8>) -> Int {
        let start = bytes.startIndex
        let words = (0..<4).map { word in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + word * 4 + $1]) << UInt32(8 * $1) }
        }
        let name = bytes[(start + 16)..<(start + 16 + Int(words[3]))].prefix { $0 != 0 }
        func note(_ mask: Int32, in names: inout [String]) {
            if words[1] & UInt32(mask) != 0 { names.append(String(decoding: name, as: UTF8.self)) }
        }
        note(Int32(IN_DELETE), in: &deleted)
        note(Int32(IN_MODIFY), in: &modified)
        note(Int32(IN_CREATE | IN_MOVED_TO), in: &arrived)
        note(Int32(IN_MOVED_FROM), in: &movedAway)
        if words[1] & UInt32(IN_MOVE_SELF) != 0 { hasMoved = true }
        return 16 + Int(words[3])
    }
}
