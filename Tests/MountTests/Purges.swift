import Support

/// A purged file and its reason, as a row of a golden table.
struct Purge: Equatable, CustomStringConvertible {
    let path: String?
    let reason: String
    init(_ path: String?, _ reason: String) {
        self.path = path
        self.reason = reason
    }
    var description: String { "\(path ?? "-") (\(reason))" }
}

extension TestMount {
    /// Unmounts, and returns the purges in the journal in order.
    func purgesAfterUnmount() throws -> [StoreEvent] {
        try unmount()
        return try StoreEvent.journal(of: store).filter { $0.type == "purge" }
    }

    /// Turns off the thresholds and lets other apps use all free space, so that a call that needs a block must purge for it.
    func takeAllFreeSpace() throws {
        try turnThresholdsOff()
        try write("+\(number("storage.available"))", to: "storage.others")
    }

    /// Writes `size` bytes to a file, by default in a persistent place, even if that purges other files.
    func writeImportant(_ size: Int, to relative: String = "Documents/new") throws {
        let file = try OpenFile(path(relative))
        try file.fill(size)
    }
}

extension [StoreEvent] {
    var golden: [Purge] { map { Purge($0.path, $0.reason ?? "-") } }
    var paths: [String] { map { $0.path ?? "-" } }
}
