import Glibc
import PurgeModel
import PurgeSystem

/// The hidden attribute of a file that is not dense: runs of blocks that are charged though the
/// backing's SEEK_DATA may not see them (allocated but never written, or past the end).
///
/// A file without it is dense: its charge is its size in blocks (FUSE.md, Knowing the charged
/// blocks). The attribute is set before the file gets its first hole, added to before a call
/// that allocates and cut after one that frees, so a crash at any point over-counts at worst.
public struct ExtentRecord: Sendable {
    public static let key = "user.purgefs.extents"
    /// Longer lists go to a file of their own, since ext4 holds about 4000 bytes an inode.
    static let inlineLimit = 512

    public var runs: ExtentSet
    /// Name of the sidecar that holds the list, once there was one.
    public var sidecar: String?

    public init(runs: ExtentSet, sidecar: String? = nil) {
        self.runs = runs
        self.sidecar = sidecar
    }
}

extension ExtentRecord {
    /// Runs as pairs of (gap, length), each a variable-length number.
    static func encode(_ set: ExtentSet) -> [UInt8] {
        var bytes: [UInt8] = []
        var end: Int64 = 0
        func append(_ value: Int64) {
            var rest = UInt64(value)
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7f) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        for run in set.runs {
            append(run.lowerBound - end)
            append(run.upperBound - run.lowerBound)
            end = run.upperBound
        }
        return bytes
    }

    /// nil for bytes that no `encode` made.
    static func decode(_ bytes: some Sequence<UInt8>) -> ExtentSet? {
        var numbers: [Int64] = []
        var value: UInt64 = 0
        var shift: UInt64 = 0
        for byte in bytes {
            guard shift < 63 else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            shift += 7
            if byte & 0x80 == 0 {
                guard let number = Int64(exactly: value) else { return nil }
                numbers.append(number)
                (value, shift) = (0, 0)
            }
        }
        guard shift == 0, numbers.count.isMultiple(of: 2) else { return nil }
        var set = ExtentSet()
        var end: Int64 = 0
        for at in stride(from: 0, to: numbers.count, by: 2) {
            let (start, overflow) = end.addingReportingOverflow(numbers[at])
            let (stop, overflow2) = start.addingReportingOverflow(numbers[at + 1])
            guard !overflow, !overflow2, stop < 1 << 51 else { return nil }
            set.insert(start..<stop)
            end = stop
        }
        return set
    }
}

// The attribute is `i` and the runs, or `s` and the name of a sidecar file in STORE/extents.
extension Store {
    /// nil for a file without the attribute. EIO when it or its sidecar cannot be understood.
    public func extentRecord(of file: Int32, _ name: CName?) throws(Errno) -> ExtentRecord? {
        guard let value = try attribute(of: file, name, ExtentRecord.key) else { return nil }
        switch value.first {
        case UInt8(ascii: "i"):
            guard let runs = ExtentRecord.decode(value.dropFirst()) else { throw .input }
            return ExtentRecord(runs: runs)
        case UInt8(ascii: "s"):
            let sidecar = String(decoding: value.dropFirst(), as: UTF8.self)
            let bytes = try sidecars().open(sidecar, O_RDONLY).readAll()
            guard let runs = ExtentRecord.decode(bytes) else { throw .input }
            return ExtentRecord(runs: runs, sidecar: sidecar)
        default: throw .input
        }
    }

    /// Writes the record, whole, before it returns.
    public func setExtentRecord(_ record: inout ExtentRecord, of file: Int32, _ name: CName?) throws(Errno) {
        let encoded = ExtentRecord.encode(record.runs)
        let old = record.sidecar
        if encoded.count <= ExtentRecord.inlineLimit {
            try setAttribute(of: file, name, ExtentRecord.key, [UInt8(ascii: "i")] + encoded)
            record.sidecar = nil
        } else {
            let sidecar = String(UInt64.random(in: 0 ... .max), radix: 36)
            let target = try sidecars().open(sidecar, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            try target.writeAll(encoded)
            try setAttribute(of: file, name, ExtentRecord.key, [UInt8(ascii: "s")] + Array(sidecar.utf8))
            record.sidecar = sidecar
        }
        if let old { removeSidecar(old) }
    }

    public func dropExtentRecord(_ record: ExtentRecord, of file: Int32, _ name: CName?) throws(Errno) {
        do { try System.removeAttribute(at: file, name, ExtentRecord.key) } catch .noData {}
        if let sidecar = record.sidecar { removeSidecar(sidecar) }
    }

    /// Of a file that is gone. A sidecar that cannot be removed is found by `purgefs check`.
    public func removeSidecar(_ name: String) {
        do { try System.unlink(at: sidecars().raw, name) } catch {}
    }

    /// nil where the file has no such attribute.
    public func attribute(of file: Int32, _ name: CName?, _ key: CName) throws(Errno) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 1024)
        do {
            let count = try value.withUnsafeMutableBytes { buffer in
                Result { () throws(Errno) in try System.attribute(at: file, name, key, into: buffer) }
            }.get()
            return Array(value[..<count])
        } catch .noData { return nil }
    }

    public func setAttribute(of file: Int32, _ name: CName?, _ key: CName, _ value: [UInt8]) throws(Errno) {
        try value.withUnsafeBytes { buffer in
            Result { () throws(Errno) in try System.setAttribute(at: file, name, key, buffer) }
        }.get()
    }
}
