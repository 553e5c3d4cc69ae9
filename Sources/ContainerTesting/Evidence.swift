import Foundation

/// The evidence about the container of a failed test, gathered before the container ends.
public struct ContainerEvidence: Sendable {
    /// JSON lines, as `purgefs events --json` prints them.
    public let events: String
    /// The HTML page of `purgefs report`; nil if it could not be created, for example because the daemon does not answer.
    public let report: String?
    /// The last events and the numbers in readable form.
    public let summary: String

    private static let longest = 20

    /// Gathers the evidence. Missing parts are no error, because the failure of the test is what counts.
    public init(of container: Container) {
        let numbers = Self.numbers(of: container)
        events = container.log.textRead
        report = numbers == nil ? nil : Self.report(of: container)
        summary = Self.summary(of: container, numbers)
    }

    /// Reads the events and the numbers. Returns nil if the daemon does not answer; the inner value is nil if the container
    /// is gone.
    private static func numbers(of container: Container) -> Container.Numbers?? {
        container.running.asking {
            _ = try? container.log.events()
            return try? container.numbers
        }
    }

    private static func report(of container: Container) -> String? {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("purgefs-\(UUID()).html")
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            try container.report(to: file)
            return String(decoding: try Data(contentsOf: file), as: UTF8.self)
        } catch { return nil }
    }

    /// Returns the path of the container, a line of numbers, and one line for each of the last events.
    static func summary(of container: Container) -> String { summary(of: container, numbers(of: container)) }

    private static func summary(of container: Container, _ numbers: Container.Numbers??) -> String {
        let all = (try? container.log.eventsRead()) ?? []
        var lines = ["the container \(container.path)"]
        if numbers == nil { lines.append("its daemon does not answer (was it stopped?)") }
        if let numbers, let numbers {
            lines.append(
                "total \(numbers.total), others \(numbers.others), used \(numbers.used), available "
                    + "\(numbers.available), important \(numbers.important), opportunistic \(numbers.opportunistic), "
                    + "reclaimable \(numbers.reclaimable), pressure \(numbers.pressure)")
        }
        lines.append(
            all.isEmpty
                ? "no events" : all.count > longest ? "the last \(longest) of \(all.count) events:" : "its events:")
        return (lines + all.suffix(longest).map(\.line)).joined(separator: "\n")
    }

    /// Writes the events, and the report if there is one, to the directory named by the variable PURGEFS_REPORTS, and prints
    /// the directory on standard error. Does nothing without the variable. Outside Swift Testing, nothing else keeps the
    /// evidence.
    public func keep(named name: String) {
        guard let folder = ProcessInfo.processInfo.environment["PURGEFS_REPORTS"], !folder.isEmpty else { return }
        let base = URL(fileURLWithPath: folder, isDirectory: true).appendingPathComponent(Self.fileName(name))
        do {
            try FileManager.default.createDirectory(
                at: base.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(events.utf8).write(to: base.appendingPathExtension("events.jsonl"))
            if let report { try Data(report.utf8).write(to: base.appendingPathExtension("html")) }
            Self.say("the events and the report of \(name) are in \(folder)")
        } catch { Self.say("the events and the report of \(name) cannot be kept: \(error)") }
    }

    /// Returns a valid file name of at most 150 characters; `photos/vanish()` becomes `photos-vanish`.
    static func fileName(_ name: String) -> String {
        let words = name.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "-") }
        return String(words.joined(separator: "-").prefix(150))
    }

    /// Writes a line on standard error.
    static func say(_ text: String) { FileHandle.standardError.write(Data("purgefs: \(text)\n".utf8)) }
}
