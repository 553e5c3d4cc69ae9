import Glibc
import PurgeSystem

/// The parts of a file that are not holes.
enum FileRuns {
    /// Returns the parts in order; the whole file if the file system does not support SEEK_DATA.
    static func data(of file: Int32, size: Int64) throws(Errno) -> [Range<Int64>] {
        var runs: [Range<Int64>] = []
        var offset: Int64 = 0
        do throws(Errno) {
            while offset < size {
                let start = try System.seek(file, offset, System.seekData)
                let end = min(size, try System.seek(file, start, System.seekHole))
                guard start < end else { break }
                runs.append(start..<end)
                offset = end
            }
        } catch .noSuchAddressOrDevice {} catch .invalid { return [0..<size] }
        return runs
    }
}
