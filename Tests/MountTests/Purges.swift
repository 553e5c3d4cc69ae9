import Support

/// One purged file, in the form of a golden table.
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
    /// Unmounts, and returns the purges of the journal in order.
    func purgesAfterUnmount() throws -> [StoreEvent] {
        try unmount()
        return try StoreEvent.journal(of: store).filter { $0.type == "purge" }
    }

    /// Other apps use all free space: F = 0, and a call that needs a block must purge for it.
    func takeAllFreeSpace() throws {
        try turnThresholdsOff()
        try write("+\(number("storage.available"))", to: "storage.others")
    }

    /// An important write of this much, whatever it purges.
    func writeImportant(_ size: Int, to relative: String = "Documents/new") throws {
        let file = try OpenFile(path(relative))
        try file.fill(size)
    }
}

extension [StoreEvent] {
    var golden: [Purge] { map { Purge($0.path, $0.reason ?? "-") } }
    var paths: [String] { map { $0.path ?? "-" } }
}
