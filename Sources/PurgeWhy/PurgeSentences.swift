import PurgeContainers
import PurgeModel

/// Explains in sentences why, and for which process, a file was purged.
struct PurgeSentences {
    let event: Event
    let update: Event?
    let passedOver: [PassedOver]

    var all: [String] {
        [opening, trigger, pressure, content].compactMap { $0 }
    }

    private var opening: String {
        let verb = event.tombstone == true ? "emptied by a purge" : "purged"
        return "It was \(verb) \(WhyWords.when(event)), \(rule) (reason \(WhyWords.path(event.reason ?? "unknown"))"
            + (event.trigger.map { ", trigger \($0.rawValue)" } ?? "") + ")."
    }

    private var rule: String {
        switch event.reason.flatMap(PurgeReason.init(rawValue:)) {
        case .temporary where update != nil: "because an update of the app empties tmp"
        case .temporary where event.trigger == .policy:
            "by the daily cleaning of tmp, because it had not been used for three days"
        case let reason? where event.trigger == .command && Self.places[reason] != nil:
            "by a command, which may purge it because \(Self.places[reason] ?? "")"
        case .temporary: "because it was in tmp, which is purged first"
        case .caches: "because it was in Library/Caches, which is purged after tmp"
        case .purgeable: "because it, or a folder above it, was marked purgeable"
        case .policyAge: "because it exceeded the age limit of its directory's policy"
        case .policySize: "because its directory exceeded the size limit of its policy"
        case .reboot: "because the device was rebooted, which empties tmp"
        case .command: "because a command named it or its place"
        case .others, nil: "by a rule unknown to this version"
        }
    }

    private static let places: [PurgeReason: String] = [
        .temporary: "it was in tmp", .caches: "it was in Library/Caches",
        .purgeable: "it, or a folder above it, was marked purgeable",
    ]

    private var trigger: String? {
        let who = WhyWords.process(event)
        let file = event.cause.map(WhyWords.path)
        switch event.trigger {
        case .importantWrite:
            let writer = WhyWords.capitalized(who ?? "a process")
            return
                "\(writer) wrote to \(file ?? "a file in a persistent place"), and there was too little free "
                + "space."
        case .pressure:
            let writer = file.map { "a write to \($0)" } ?? who.map { _ in "a change of the device" }
            let cause = writer.map { " after \($0)\(WhyWords.by(event))" } ?? ""
            return "Free space was low\(cause), so the system purged in the background."
        case .capacity:
            return
                "The device's total, others or thresholds were changed\(WhyWords.by(event)), which left too little "
                + "free space."
        case .command where update == nil: return who.map { "\(WhyWords.capitalized($0)) gave that command." }
        case .command, .reboot: return who.map { "\(WhyWords.capitalized($0)) had requested that." }
        case .policy, nil: return nil
        }
    }

    private var pressure: String? {
        guard let level = event.pressure, event.reason != PurgeReason.reboot.rawValue else { return nil }
        return "The pressure level was \(level.rawValue)."
    }

    private var content: String? {
        let size = event.bytes.map { bytes in
            bytes == .zero ? "It held no data" : "It held \(bytes.inWords)"
        }
        let use = event.lastUse.map { "was last used on \(WhyWords.moment($0))" }
        let parts = [size, use].compactMap { $0 }
        guard let first = parts.first else { return nil }
        return WhyWords.capitalized(size == nil ? "it \(first)" : first)
            + (parts.count > 1 ? ", and \(parts[1])." : ".")
    }

    /// The skipped files as a separate paragraph, one line for each.
    var neighbours: [String] {
        guard !passedOver.isEmpty else { return [] }
        return WhyWords.wrapped(
            "Skipped by that purge, although in the same step of the order or an earlier one:")
            + passedOver.flatMap { file in
                WhyWords.wrapped(
                    "\(WhyWords.path(file.path)): \(reason(file))", indent: "  ", hanging: "    ")
            }
    }

    private func reason(_ file: PassedOver) -> String {
        guard file.reason == .open, let user = WhyWords.process(file.pid, file.process) else {
            return RefusalText.reason(file.reason, users: [], leavesTombstone: false)
        }
        return "it was in use by \(user)"
    }
}
