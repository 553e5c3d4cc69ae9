import Support

extension ReferenceLedger {
    /// Creates a container with its directories and no files.
    static func container(blocks: Int64) -> ReferenceLedger {
        var ledger = ReferenceLedger(total: blocks * block)
        for path in [
            "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "tmp",
        ] {
            ledger.makeDirectory(path)
        }
        return ledger
    }

    /// Creates a closed file of the given number of blocks, last used now.
    @discardableResult
    mutating func make(_ path: String, blocks: Int64) -> FileID {
        let id = create(path)
        write(id, at: 0, count: blocks * Self.block)
        close(id)
        return id
    }

    /// The used bytes, in blocks.
    var usedBlocks: Int64 { used / Self.block }
}
