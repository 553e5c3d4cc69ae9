/// The phases of a cleaning, with the names that mPaaS gives them (docs/CLEANER.md).
enum CleaningPhase: String, Codable, CaseIterable, Sendable {
    /// Measures the container before the cleaning.
    case preCalculating
    case cleaning
    /// Measures the container after the cleaning.
    case postCalculating
    case done
}

/// The progress of a phase.
struct CleaningProgress: Hashable, Sendable {
    let phase: CleaningPhase
    /// The progress in percent. It never decreases, and reaches 100 only at the end of the phase.
    private(set) var percent = 0
    /// The number of parts, which have equal shares of the phase and consist of steps.
    private let parts: Int
    private var partsDone = 0

    init(_ phase: CleaningPhase, parts: Int = 1) {
        self.phase = phase
        self.parts = max(1, parts)
    }

    /// The progress from 0 to 1.
    var fraction: Double { Double(percent) / 100 }

    /// Sets the number of completed steps of the current part, and returns true if `percent` has changed. If `steps` is too
    /// small, the progress stops at the end of the part.
    mutating func advance(to step: Int, of steps: Int) -> Bool {
        let inPart = steps > 0 ? Double(min(max(0, step), steps)) / Double(steps) : 0
        return raise(to: min(99, Int((Double(partsDone) + inPart) / Double(parts) * 100)))
    }

    /// Completes the current part, and returns true if `percent` has changed.
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
