// Purging, as in docs/RULES.md, Order of purging.
extension ReferenceLedger {
    public enum Reason: String, Sendable {
        case temporary, caches, purgeable
    }

    public struct Victim: Equatable, Sendable {
        public var path: String
        public var reason: Reason
        public var bytes: Int64

        public init(path: String, reason: Reason, bytes: Int64) {
            self.path = path
            self.reason = reason
            self.bytes = bytes
        }
    }

    /// The result of a purge, in order.
    public struct Purge: Equatable, Sendable {
        public var fromOthers: Int64 = 0
        public var victims: [Victim] = []

        public init(fromOthers: Int64 = 0, victims: [Victim] = []) {
            self.fromOthers = fromOthers
            self.victims = victims
        }

        public var isEmpty: Bool { fromOthers == 0 && victims.isEmpty }
    }

    /// All victims in order: by place, urgency, last use, size (larger first), path.
    public var purgeOrder: [Victim] { inTurn.map(\.victim) }

    private var inTurn: [(id: FileID, victim: Victim)] {
        files.filter { $0.value.mayGo }.sorted { Self.goesBefore($0.value, $1.value) }.map { id, file in
            let reason: Reason =
                switch file.tier {
                case .temporary: .temporary
                case .caches: .caches
                case .persistent: .purgeable
                }
            return (id, Victim(path: file.names.first ?? "", reason: reason, bytes: file.charged))
        }
    }

    private static func goesBefore(_ a: File, _ b: File) -> Bool {
        func turn(_ file: File) -> [Int] {
            // Unmarked files of tmp and Caches, and files marked `0`, have urgency low.
            let urgency = max(Mark.low.rawValue, file.mark?.rawValue ?? 0)
            return [file.tier.durability, urgency, file.lastUse, -file.blocks.count]
        }
        let (first, second) = (turn(a), turn(b))
        return first == second ? a.names.lexicographicallyPrecedes(b.names) : first.lexicographicallyPrecedes(second)
    }

    /// Purges until this many bytes have been freed, or nothing is left.
    @discardableResult
    public mutating func purge(bytes: Int64) -> Purge {
        let purge = takeAway(bytes: bytes)
        judgePressure()
        return purge
    }

    /// Takes whole blocks from others.purgeable, and then purges file by file. The caller updates the pressure level at the end
    /// of the step.
    mutating func takeAway(bytes: Int64) -> Purge {
        var result = Purge()
        guard bytes > 0 else { return result }
        result.fromOthers = min((bytes + Self.block - 1) / Self.block * Self.block, othersPurgeable)
        others -= result.fromOthers
        othersPurgeable -= result.fromOthers
        var missing = bytes - result.fromOthers
        guard missing > 0 else { return result }
        for (id, victim) in inTurn where missing > 0 {
            missing -= victim.bytes
            result.victims.append(victim)
            put(nil, at: victim.path)
            files[id] = nil
        }
        return result
    }
}
