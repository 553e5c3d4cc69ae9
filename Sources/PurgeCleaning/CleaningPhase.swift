/// The phases of a cleaning, by the names that mPaaS gives them (docs/CLEANER.md).
enum CleaningPhase: String, Codable, CaseIterable, Sendable {
    /// How much the container uses before.
    case preCalculating
    case cleaning
    /// How much it uses afterwards.
    case postCalculating
    case done
}

/// How far a phase is.
struct CleaningProgress: Hashable, Sendable {
    let phase: CleaningPhase
    /// In hundredths. It never goes back, and is 100 only at the end.
    private(set) var percent = 0
    /// Parts that take the same share, each of which is done in steps.
    private let parts: Int
    private var partsDone = 0

    init(_ phase: CleaningPhase, parts: Int = 1) {
        self.phase = phase
        self.parts = max(1, parts)
    }

    /// 0 to 1.0.
    var fraction: Double { Double(percent) / 100 }

    /// So many of the steps of the part that is being done are done. Returns whether `percent` has changed. A number of
    /// steps that turns out to be too small does not lead beyond the part.
    mutating func advance(to step: Int, of steps: Int) -> Bool {
        let inPart = steps > 0 ? Double(min(max(0, step), steps)) / Double(steps) : 0
        return raise(to: min(99, Int((Double(partsDone) + inPart) / Double(parts) * 100)))
    }

    /// One part is done.
    mutating func endPart() -> Bool {
        partsDone = min(parts, partsDone + 1)
        return raise(to: min(99, partsDone * 100 / parts))
    }

    mutating func end() -> Bool { raise(to: 100) }

    private mutating func raise(to new: Int) -> Bool {
        guard new > percent else { return false }
        percent = new
        return true
    }
}
