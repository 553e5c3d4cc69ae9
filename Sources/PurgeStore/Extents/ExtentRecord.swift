import Glibc
import PurgeModel
import PurgeSystem

/// The hidden attribute of a file that is not dense: the runs of charged blocks that SEEK_DATA on the backing file may not show
/// (allocated but never written, or past the end).
///
/// A file without the attribute is dense: its charge is its size in blocks (docs/INTERNALS.md, Charged blocks). The attribute is
/// set before a file gets its first hole. It grows before a call allocates and shrinks after a call frees, so a crash at any
/// point can only overcount.
public struct ExtentRecord: Sendable {
    public static let key = "user.purgefs.extents"
    /// The value for a file with holes that has charged blocks only where its file system shows data.
    public static let ofHoles = [UInt8(ascii: "i")] + encode(ExtentSet())
    /// The longest list kept in the attribute, in bytes. Longer ones go to a sidecar, since ext4 holds about 4000 bytes of
    /// attributes per inode.
    static let inlineLimit = 512
    /// The longest list in bytes: some two million runs, which take eight times as much memory.
    static let sidecarLimit = 4 << 20
    /// The limit for a file's size in blocks, as on ext4.
    public static let largestBlock: Int64 = 1 << 32

    public var runs: ExtentSet
    /// The name of the sidecar that holds the list; nil if the attribute holds it.
    public var sidecar: String?

    public init(runs: ExtentSet, sidecar: String? = nil) {
        self.runs = runs
        self.sidecar = sidecar
    }
}

extension ExtentRecord {
    /// Encodes runs as pairs of (gap, length), each a variable-length number.
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

    /// Decodes runs; returns nil for bytes that are not a list of ascending, separate runs within `largestBlock`.
    static func decode(_ bytes: some Sequence<UInt8>) -> ExtentSet? {
        var set = ExtentSet()
        var (value, shift, end): (Int64, Int64, Int64) = (0, 0, 0)
        var start: Int64?
        for byte in bytes {
            guard shift < 63 else { return nil }
            value |= Int64(byte & 0x7f) << shift
            shift += 7
            guard byte & 0x80 == 0 else { continue }
            guard value <= largestBlock - end else { return nil }
            end += value
            if let begun = start {
                guard begun < end else { return nil }
                set.insert(begun..<end)
                start = nil
            } else {
                guard value > 0 || set.runs.isEmpty else { return nil }
                start = end
            }
            (value, shift) = (0, 0)
        }
        return shift == 0 && start == nil ? set : nil
    }
}
