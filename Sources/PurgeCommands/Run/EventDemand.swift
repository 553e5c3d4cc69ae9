import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// One `TYPE` or `TYPE:GLOB` of `--fail-on`, with the events that it has matched.
struct EventDemand: Sendable {
    private static let types: [(word: String, type: EventType)] = [
        ("refused", .refused), ("purged", .purge), ("flagLost", .flagLost), ("protectionDenied", .protectionDenied),
        ("hostFull", .hostFull), ("terminated", .terminated),
    ]
    static let words = types.map(\.word)

    /// The text as it was written.
    let text: String
    private let type: EventType
    private let glob: Glob?
    private(set) var count = 0
    private(set) var firstPath: String?
    /// The number of events of its type without a path, if there is a GLOB. Each of them stands for many events, whose paths
    /// GLOB may match.
    private(set) var undecided = 0

    init(_ text: some StringProtocol) throws(CommandFailure) {
        let word = text.prefix { $0 != ":" }
        guard let type = Self.types.first(where: { $0.word == word })?.type else {
            throw .usage("--fail-on: " + OptionSpec.objection(to: String(word), among: Self.words))
        }
        let pattern = text.dropFirst(word.count + 1)
        // A pattern that no path can match would let every run pass.
        guard word.count == text.count || ContainerGlob.canMatch(pattern), pattern.first != "/",
            pattern.first != " "
        else {
            let rest = ["~/", "$HOME/", "./", "/", " "].first(where: pattern.hasPrefix).map {
                pattern.dropFirst($0.count)
            }
            let meant = rest.flatMap { ContainerGlob.canMatch($0) ? $0 : nil } ?? "Documents/*"
            throw .usage("--fail-on: '\(text)': GLOB is relative to the container: \(word):\(meant)")
        }
        self.text = String(text)
        self.type = type
        glob = pattern.isEmpty ? nil : Glob(String(pattern))
    }

    /// The demand and what has met it: `refused: 2 events, the first of Documents/a`.
    var finding: String {
        let path = firstPath.map { ", the first of \(VisibleText.of($0))" } ?? ""
        return "\(VisibleText.of(text)): \(count) \(count == 1 ? "event" : "events")\(path)"
    }

    /// Counts an event if it matches. A purge without a path is a loss of other apps, not of this one.
    mutating func meet(_ event: Event) {
        guard event.type == type, event.path != nil || type != .purge else { return }
        if let glob {
            guard let path = event.path else {
                undecided += 1
                return
            }
            guard glob.matches(path.utf8) else { return }
        }
        count += 1
        firstPath = firstPath ?? event.path
    }
}
