import Glibc
import PurgeSystem

extension StoreDirectory {
    static let lastWordsName = "last-words.txt"
    static let oldLastWordsName = "last-words.old.txt"
}

extension Store {
    /// The file for the last message of a daemon that crashes. The path goes through the store's descriptor, because the store's
    /// owner can put another directory under its name.
    public var lastWordsPath: String { "/proc/self/fd/\(directory.raw)/\(StoreDirectory.lastWordsName)" }

    /// Returns the first line of the last message of a daemon that crashed, and renames the file to last-words.old.txt, so that
    /// the message is returned only once. Returns nil if there is no such message.
    public func takeLastWords() -> String? {
        guard let words = Self.lastWords(in: absolutePath) else { return nil }
        do throws(Errno) {
            try System.rename(
                at: directory.raw, StoreDirectory.lastWordsName, to: directory.raw, StoreDirectory.oldLastWordsName)
        } catch {}  // the next call returns the message again
        return words.split(separator: "\n").first.map(String.init)
    }

    /// Returns the last message of a daemon of the store at `path`, cut to 16 KiB; nil if there is none or it cannot be read.
    public static func lastWords(in path: String) -> String? {
        do throws(Errno) {
            let file = try FileDescriptor.open(
                "\(path)/\(StoreDirectory.lastWordsName)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            guard try System.status(file.raw).st_mode & S_IFMT == S_IFREG else { return nil }
            return String(decoding: try file.readSome(16 << 10), as: UTF8.self)
        } catch { return nil }
    }
}
