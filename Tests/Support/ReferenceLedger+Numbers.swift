// The numbers of docs/RULES.md, Capacity, recomputed each time.
extension ReferenceLedger {
    public struct Usage: Equatable, Sendable {
        public var bytes: Int64 = 0
        public var files: Int64 = 0

        public init(bytes: Int64 = 0, files: Int64 = 0) {
            self.bytes = bytes
            self.files = files
        }
    }

    /// The numbers of the space and of the tiers that storage.* and status.json show.
    public struct Numbers: Equatable, Sendable {
        public var total, others, othersPurgeable, used, available, important, opportunistic, reclaimable: Int64
        public var temporary, caches, persistent: Usage

        /// Creates numbers that a test has read from the mount, in the order of status.json.
        public init(
            total: Int64, others: Int64, othersPurgeable: Int64, used: Int64, available: Int64, important: Int64,
            opportunistic: Int64, reclaimable: Int64, temporary: Usage, caches: Usage, persistent: Usage
        ) {
            self.total = total
            self.others = others
            self.othersPurgeable = othersPurgeable
            self.used = used
            self.available = available
            self.important = important
            self.opportunistic = opportunistic
            self.reclaimable = reclaimable
            self.temporary = temporary
            self.caches = caches
            self.persistent = persistent
        }
    }

    public var used: Int64 { files.values.reduce(0) { $0 + $1.charged } }
    /// The free space, which is negative if the device is overcommitted.
    var balance: Int64 { total - others - used }
    public var available: Int64 { max(0, balance) }
    public var reclaimable: Int64 { files.values.reduce(othersPurgeable) { $1.mayGo ? $0 + $1.charged : $0 } }
    public var important: Int64 { min(total, max(0, balance + reclaimable)) }
    public var opportunistic: Int64 { max(0, available - lowThreshold) }

    /// Returns the usage of a tier; unlinked open files count in their last one.
    public func usage(of tier: Tier) -> Usage {
        files.values.reduce(into: Usage()) { sum, file in
            guard file.tier == tier else { return }
            sum.bytes += file.charged
            sum.files += 1
        }
    }

    public var numbers: Numbers {
        Numbers(
            total: total, others: others, othersPurgeable: othersPurgeable, used: used, available: available,
            important: important, opportunistic: opportunistic, reclaimable: reclaimable,
            temporary: usage(of: .temporary), caches: usage(of: .caches), persistent: usage(of: .persistent))
    }

    public func charged(_ id: FileID) -> Int64 { file(id).charged }
    public func size(_ id: FileID) -> Int64 { file(id).size }
    public func opens(_ id: FileID) -> Int { file(id).opens }
    /// Returns the paths of the file, in no particular order.
    public func names(_ id: FileID) -> [String] { file(id).names }
    public func tier(_ id: FileID) -> Tier { file(id).tier }
    public func isImportant(_ id: FileID) -> Bool { file(id).isImportant }

    /// Returns st_blocks for stat(2); 0 for anything but a regular file.
    public func statBlocks(at path: String) -> Int64 { fileID(at: path).map { charged($0) / 512 } ?? 0 }

    /// The expected st_blocks of every name of a file, by path.
    public var statBlocksOfAllFiles: [String: Int64] {
        var result: [String: Int64] = [:]
        for file in files.values {
            for name in file.names { result[name] = file.charged / 512 }
        }
        return result
    }

    /// The charged bytes of files without a name.
    public var unlinkedBytes: Int64 { files.values.reduce(0) { $1.names.isEmpty ? $0 + $1.charged : $0 } }

    /// Returns f_bavail x f_frsize of statvfs(2) at a file or directory: the capacity for the class of a write there. The root
    /// shows free space.
    public func statvfsAvailable(at path: String) -> Int64 {
        let names = Self.components(path)
        guard !names.isEmpty else { return available }
        if let id = fileID(at: path) { return file(id).isImportant ? important : opportunistic }
        var place = rootPlace
        for at in names.indices {
            place = self.place(of: names[at], entry(names[...at].joined(separator: "/")), in: place)
        }
        let isImportant = place.tier == .persistent && (place.inherited ?? .notPurgeable) == .notPurgeable
        return isImportant ? important : opportunistic
    }

    /// Returns f_bfree x f_frsize of statvfs(2).
    public func statvfsFree(at path: String) -> Int64 { max(statvfsAvailable(at: path), available) }
}
