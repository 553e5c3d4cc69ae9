import Glibc
import PurgeSystem

/// An inotify watch of one directory for removed names and modified files.
public final class DirectoryWatch {
    private let descriptor: Int32
    public private(set) var deleted: [String] = []
    public private(set) var modified: [String] = []

    public init(_ path: String) throws(Errno) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard descriptor >= 0 else { throw Errno(errno) }
        guard inotify_add_watch(descriptor, path, UInt32(IN_DELETE | IN_MODIFY)) >= 0 else {
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
        if words[1] & UInt32(IN_DELETE) != 0 { deleted.append(String(decoding: name, as: UTF8.self)) }
        if words[1] & UInt32(IN_MODIFY) != 0 { modified.append(String(decoding: name, as: UTF8.self)) }
        return 16 + Int(words[3])
    }
}
