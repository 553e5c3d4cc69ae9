import Glibc
import PurgeModel
import PurgeSystem

/// purgefs's own attributes of an entry in the store, as the tree keeps them.
public struct StoredAttributes {
    public var mark: PurgeMark?
    public var isExcluded = false
    public var protection: FileProtection?
    /// The policy of a directory.
    public var policy = DirectoryPolicy()
    public var behaviour = PurgeBehaviour()
    /// Whether the value of fileProtection is not a protection class. The entry then counts as having no class.
    public var hasUnknownProtection = false
    public var hasExtents = false
    public var times: SetTimes?
    public var born: Instant?

    public init() {}

    private static let attributes = Dictionary(
        uniqueKeysWithValues: StorageAttribute.allCases.map { ($0.storeKey, $0) })
    private static let keys = Array(attributes.keys) + [ExtentRecord.key, SetTimes.key, StoredBirth.key]

    /// Lists the names of all attributes, and reads the value of each attribute of purgefs except the record of extents. If the
    /// names exceed the 64 KiB that the kernel can list, tries every name that purgefs uses.
    public init(of directory: Int32, _ name: CName?) throws(Errno) {
        let present: [String]
        do throws(Errno) {
            present = try StoredAttributes.names(of: directory, name).map(\.text)
        } catch .argListTooLong, .range { present = Self.keys }
        for key in present {
            if let attribute = Self.attributes[key] {
                guard let value = try StoredAttributes.value(of: directory, name, key) else { continue }
                take(attribute, String(decoding: value, as: UTF8.self))
            } else if key == ExtentRecord.key {
                hasExtents = true  // reading the record shows whether it exists
            } else if key == SetTimes.key {
                guard let value = try StoredAttributes.value(of: directory, name, key) else { continue }
                times = SetTimes(text: String(decoding: value, as: UTF8.self))
            } else if key == StoredBirth.key {
                born = try StoredAttributes.value(of: directory, name, key).flatMap(StoredBirth.instant)
            }
        }
    }

    private mutating func take(_ attribute: StorageAttribute, _ value: String) {
        switch attribute {
        case .isPurgeable: mark = PurgeMark(text: value)
        case .isExcludedFromBackup: isExcluded = value == "1"
        case .fileProtection:
            protection = FileProtection(text: value)
            hasUnknownProtection = protection == nil
        case .purgeAfter, .sizeLimit: policy.set(attribute, to: value)
        case .purgeGroup, .purgeTombstone: behaviour.set(attribute, to: value)
        }
    }

    /// Returns the times stored in an attribute of a link or special file; nil if there are none. Only root can set and read
    /// the attribute.
    public static func timesOfLink(in directory: Int32, _ name: CName) throws(Errno) -> SetTimes? {
        guard geteuid() == 0 else { return nil }
        do throws(Errno) {
            guard let value = try value(of: directory, name, SetTimes.linkKey) else { return nil }
            return SetTimes(text: String(decoding: value, as: UTF8.self))
        } catch .notSupported, .notPermitted { return nil }
    }

    /// Returns every name, in the store's spelling; none if the file system does not support attributes.
    public static func names(of directory: Int32, _ name: CName?) throws(Errno) -> [AttributeKey] {
        // Most entries have few names, and the kernel allocates as much as is requested. It never lists more than 64 KiB.
        do { return try names(of: directory, name, capacity: 1024) } catch .range {
            return try names(of: directory, name, capacity: 65536)
        }
    }

    private static func names(of directory: Int32, _ name: CName?, capacity: Int) throws(Errno) -> [AttributeKey] {
        try withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
            Result { () throws(Errno) in
                var length = 0
                do throws(Errno) {
                    length = try System.attributeNames(at: directory, name, into: buffer)
                } catch .notSupported, .notPermitted {}
                // Each name ends with a zero, so a pointer to its start is a C string.
                return buffer[..<length].split(separator: 0).compactMap { name in
                    UnsafeBufferPointer(rebasing: name).baseAddress.map { AttributeKey($0) }
                }
            }
        }.get()
    }

    public static func value(of directory: Int32, _ name: CName?, _ key: CName) throws(Errno) -> [UInt8]? {
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
