import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// Our own attributes of an entry of the store, as the tree remembers them.
struct StoredAttributes {
    var mark: PurgeMark?
    var isExcluded = false
    var protection: FileProtection?
    /// Of a directory.
    var policy = DirectoryPolicy()
    /// fileProtection has a value that is no class; the entry then counts as having none.
    var hasUnknownProtection = false
    var hasExtents = false
    var times: SetTimes?

    init() {}

    private static let keys = [
        StorageAttribute.isPurgeable.storeKey, StorageAttribute.isExcludedFromBackup.storeKey,
        StorageAttribute.fileProtection.storeKey, StorageAttribute.purgeAfter.storeKey,
        StorageAttribute.sizeLimit.storeKey, ExtentRecord.key, SetTimes.key,
    ]

    /// One listxattr, and one getxattr for a mark. If there are more names than the kernel lists (64 KiB), each of ours
    /// is read by itself.
    init(of directory: Int32, _ name: CName?) throws(Errno) {
        let present: [String]
        do throws(Errno) {
            present = try StoredAttributes.names(of: directory, name).map(\.text)
        } catch .argListTooLong, .range { present = Self.keys }
        for key in present {
            switch key {
            case StorageAttribute.isPurgeable.storeKey:
                guard let value = try StoredAttributes.value(of: directory, name, key) else { continue }
                mark = PurgeMark(text: String(decoding: value, as: UTF8.self))
            case StorageAttribute.isExcludedFromBackup.storeKey:
                guard let value = try StoredAttributes.value(of: directory, name, key) else { continue }
                isExcluded = value == [UInt8(ascii: "1")]
            case StorageAttribute.fileProtection.storeKey:
                guard let value = try StoredAttributes.value(of: directory, name, key) else { continue }
                protection = FileProtection(text: String(decoding: value, as: UTF8.self))
                hasUnknownProtection = protection == nil
            case StorageAttribute.purgeAfter.storeKey:
                guard let value = try StoredAttributes.value(of: directory, name, key) else { continue }
                policy.set(.purgeAfter, to: String(decoding: value, as: UTF8.self))
            case StorageAttribute.sizeLimit.storeKey:
                guard let value = try StoredAttributes.value(of: directory, name, key) else { continue }
                policy.set(.sizeLimit, to: String(decoding: value, as: UTF8.self))
            case ExtentRecord.key: hasExtents = true  // reading it shows whether it exists
            case SetTimes.key:
                guard let value = try StoredAttributes.value(of: directory, name, key) else { continue }
                times = SetTimes(text: String(decoding: value, as: UTF8.self))
            default: break
            }
        }
    }

    /// Of a link or special file. Only root can have set them, and read them.
    static func timesOfLink(in directory: Int32, _ name: CName) throws(Errno) -> SetTimes? {
        guard geteuid() == 0 else { return nil }
        do throws(Errno) {
            guard let value = try value(of: directory, name, SetTimes.linkKey) else { return nil }
            return SetTimes(text: String(decoding: value, as: UTF8.self))
        } catch .notSupported, .notPermitted { return nil }
    }

    /// Every name, in the store's spelling.
    static func names(of directory: Int32, _ name: CName?) throws(Errno) -> [Name] {
        try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65536) { buffer in
            Result { () throws(Errno) in
                var length = 0
                do throws(Errno) {
                    length = try System.attributeNames(at: directory, name, into: buffer)
                } catch .notSupported, .notPermitted {}
                // Each ends with the zero that makes it a C string.
                return buffer[..<length].split(separator: 0).compactMap { name in
                    UnsafeBufferPointer(rebasing: name).baseAddress.map { Name($0) }
                }
            }
        }.get()
    }

    static func value(of directory: Int32, _ name: CName?, _ key: CName) throws(Errno) -> [UInt8]? {
        // Most values are short; the kernel's limit is 64 KiB.
        do { return try value(of: directory, name, key, capacity: 512) } catch .range {
            return try value(of: directory, name, key, capacity: 65536)
        }
    }

    private static func value(
        of directory: Int32, _ name: CName?, _ key: CName, capacity: Int
    ) throws(Errno) -> [UInt8]? {
        try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { buffer in
            Result { () throws(Errno) in
                do throws(Errno) {
                    let length = try System.attribute(at: directory, name, key, into: buffer)
                    return [UInt8](buffer[..<length])
                } catch .noData { return nil }
            }
        }.get()
    }
}
