/// The write-ahead log of a SQLite database, which holds the newest pages until a checkpoint copies them to the database. An
/// app that runs, or was killed, may have all its data there.
enum WriteAheadLog {
    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// Copies the committed pages of a log to the image of its database, which does not become larger than `most` bytes. A log
    /// that does not belong to the database changes nothing. Checksums are not checked: a torn page makes the copy in memory
    /// damaged, and then it is skipped.
    static func apply(_ log: [UInt8], to image: inout [UInt8], most: Int) {
        guard log.count >= headerSize, number(log, 0) & ~1 == 0x377F_0682 else { return }
        let size = number(log, 8)
        guard (512...65536).contains(size), size & (size - 1) == 0, size == pageSize(image) else { return }
        let salts = log[16..<24]
        var pages: [(number: Int, start: Int)] = []
        for frame in stride(from: headerSize, through: log.count - frameHeaderSize - size, by: frameHeaderSize + size) {
            // Frames from before the last restart of the log have other salts.
            guard log[frame + 8..<frame + 16].elementsEqual(salts) else { return }
            let (page, committed) = (number(log, frame), number(log, frame + 4))
            guard page > 0, page <= most / size, committed <= most / size else { return }
            pages.append((page, frame + frameHeaderSize))
            guard committed > 0 else { continue }
            if image.count < committed * size {
                image += [UInt8](repeating: 0, count: committed * size - image.count)
            }
            for (number, start) in pages where number <= committed {
                image.replaceSubrange((number - 1) * size..<number * size, with: log[start..<start + size])
            }
            pages = []
        }
    }

    private static func pageSize(_ image: [UInt8]) -> Int {
        guard image.count >= 100 else { return 0 }
        let size = Int(image[16]) << 8 | Int(image[17])
        return size == 1 ? 65536 : size
    }

    private static func number(_ log: [UInt8], _ offset: Int) -> Int {
        log[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
