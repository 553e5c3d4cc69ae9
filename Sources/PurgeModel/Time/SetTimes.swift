/// Times of one file that an app set and that its stamps cannot express: a time that the clock skipped, one in the future, or
/// one too early for some file systems. The file's stamp is then the time itself, or the nearest one that the file system can
/// store. Each entry also holds how far the clock was advanced when the app set the time. An entry applies only while the
/// file has that stamp, so any change to the stamp invalidates it.
public struct SetTimes: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case access = "a"
        case modification = "m"
    }

    private struct Entry: Hashable, Sendable {
        var kind: Kind
        var stamp: FileTime
        /// The clock's advance when the time was set.
        var clock: Int64
    }
    /// The newest entry of each kind comes first. The previous entry is kept too: the file has the previous stamp until it gets
    /// the new one, and another call may have read the previous stamp.
    private var entries: [Entry] = []

    /// The extended attribute that keeps these entries on a file in the store.
    public static let key = "user.purgefs.times"
    /// The extended attribute for links and special files, which cannot have user attributes.
    public static let linkKey = "trusted.purgefs.times"

    public init() {}

    public var isEmpty: Bool { entries.isEmpty }

    /// Returns how far the clock was advanced when an app set this stamp; nil if the stamp has no entry.
    public func clock(of stamp: FileTime, _ kind: Kind) -> Int64? {
        entries.first { $0.stamp == stamp && $0.kind == kind }?.clock
    }

    /// Records how far the clock is advanced when an app sets this stamp. If `clock` is nil, the stamp alone expresses the time
    /// and gets no entry.
    public mutating func set(_ stamp: FileTime, _ kind: Kind, clock: Int64?) {
        entries.removeAll { $0.kind == kind && $0.stamp == stamp }
        guard let clock else { return }
        let previous = entries.first { $0.kind == kind }
        entries.removeAll { $0.kind == kind }
        entries.append(Entry(kind: kind, stamp: stamp, clock: clock))
        if let previous { entries.append(previous) }
    }
}

// The text is `a` or `m`, the stamp, and the clock: `m1763822199.000000000+259200`.
extension SetTimes {
    /// The entries by kind, newest first, separated by spaces; empty if there are none.
    public var text: String {
        Kind.allCases.flatMap { kind in
            entries.filter { $0.kind == kind }.map { "\(kind.rawValue)\($0.stamp.text)+\($0.clock)" }
        }.joined(separator: " ")
    }

    /// The length of the longest text, in bytes.
    public static let longestText = 192

    /// Parses a string; nil unless `text` could have produced it from at least one entry.
    public init?(text: String) {
        guard text.utf8.count <= Self.longestText else { return nil }
        for part in text.split(separator: " ", omittingEmptySubsequences: false) {
            let halves = part.dropFirst().split(separator: "+", omittingEmptySubsequences: false)
            guard let kind = Kind(rawValue: String(part.prefix(1))), halves.count == 2,
                let stamp = FileTime(text: halves[0]), let clock = Int64(halves[1]),
                (0...Device.mostSecondsAhead).contains(clock)
            else { return nil }
            let known = entries.filter { $0.kind == kind }
            guard known.count < 2, !known.contains(where: { $0.stamp == stamp }) else { return nil }
            entries.append(Entry(kind: kind, stamp: stamp, clock: clock))
        }
        guard !entries.isEmpty, self.text == text else { return nil }
    }
}
