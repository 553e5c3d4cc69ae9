/// Times of one file that an app has set and that its stamps cannot express: a time that the clock passed over, or one in
/// the future. The file has the time itself as its stamp then, and this says how far the clock was ahead when it was
/// set. It counts only as long as the file has that stamp, so whatever changes the stamp makes it void.
public struct SetTimes: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case access = "a"
        case modification = "m"
    }

    private struct Entry: Hashable, Sendable {
        var kind: Kind
        var stamp: FileTime
        /// The device's clock when it was set.
        var clock: Int64
    }
    /// The newest of a kind comes first. The one before it is kept as well: the file still has that stamp until it gets
    /// the new one, and a call may have read it.
    private var entries: [Entry] = []

    /// The attribute in the store that has them.
    public static let key = "user.purgefs.times"
    /// The same for links and special files, which cannot have attributes of users.
    public static let linkKey = "trusted.purgefs.times"

    public init() {}

    public var isEmpty: Bool { entries.isEmpty }

    /// The device's clock when the file got this stamp from an app; nil if no app has set it.
    public func clock(of stamp: FileTime, _ kind: Kind) -> Int64? {
        entries.first { $0.stamp == stamp && $0.kind == kind }?.clock
    }

    /// An app sets this stamp, with the device's clock as given, or nil if the stamp alone expresses the time.
    public mutating func set(_ stamp: FileTime, _ kind: Kind, clock: Int64?) {
        entries.removeAll { $0.kind == kind && $0.stamp == stamp }
        guard let clock else { return }
        let previous = entries.first { $0.kind == kind }
        entries.removeAll { $0.kind == kind }
        entries.append(Entry(kind: kind, stamp: stamp, clock: clock))
        if let previous { entries.append(previous) }
    }
}

// Text: `a` or `m`, the stamp, and the clock: `m1763822199.000000000+259200`.
extension SetTimes {
    /// In the order of the kinds, the newest first, with a space between two; empty if there is nothing to remember.
    public var text: String {
        Kind.allCases.flatMap { kind in
            entries.filter { $0.kind == kind }.map { "\(kind.rawValue)\($0.stamp.text)+\($0.clock)" }
        }.joined(separator: " ")
    }

    /// The longest text, in bytes.
    public static let longestText = 192

    /// nil for anything that `text` cannot have made.
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
