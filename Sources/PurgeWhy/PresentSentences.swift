import PurgeContainers
import PurgeModel

/// Describes the entry at a path in sentences.
struct PresentSentences {
    let file: PresentFile

    var all: [String] { [opening, protection, mark, turn ?? refusal].compactMap { $0 } }

    private var opening: String {
        let place = "in \(WhyWords.place(file.tier)) (tier \(file.tier.rawValue))"
        switch file.kind {
        case .folder: return "It is a folder \(place). Purging removes files and leaves folders."
        case .link: return "It is a symbolic link \(place)."
        case .special: return "It is a device, a pipe or a socket \(place)."
        case .file:
            let cost = file.charged.map { ", charged as \($0.inWords)" } ?? ""
            return "It is a file of \(file.size.inWords) \(place)\(cost)."
        }
    }

    private var protection: String? {
        guard let protection = file.protection, !protection.canBeOpened else { return nil }
        let state =
            if protection.state == .beforeFirstUnlock {
                "has not been unlocked since it was booted"
            } else if protection.fileProtection == .completeWhenUserInactive {
                "has been locked for device.inactivity"
            } else { "is locked" }
        return
            "The device \(state), and a file of class \(protection.fileProtection.rawValue) cannot be opened then (EPERM)."
    }

    private var mark: String? {
        guard let value = file.isPurgeable else { return nil }
        let source =
            file.isPurgeableFrom.map { $0.isEmpty ? "The container" : "Its folder \(WhyWords.path($0))" } ?? "It"
        return value == "0"
            ? "\(source) is marked as not purgeable." : "\(source) is marked purgeable, with urgency \(value)."
    }

    private var turn: String? {
        guard let turn = file.turn else { return nil }
        if turn.isForCommandsOnly {
            return "Purging it would free nothing, so only a command for its place or for everything purges it."
        }
        let before = turn.bytesBefore == .zero ? "nothing goes before it" : "\(turn.bytesBefore.inWords) go before it"
        let end = turn.tombstone == true ? "; it would be emptied and keep its name" : ""
        return
            "It may be purged (reason \(turn.reason)): it is number \(turn.position) of \(turn.of) in the order, and "
            + "\(before)\(end).\(reach(turn))"
    }

    private func reach(_ turn: PresentFile.Turn) -> String {
        guard let beyond = turn.reachedBeyond else { return "" }
        let background =
            turn.lowThreshold == .zero
            ? ""
            : ", and a background purge, which begins when less than \(turn.lowThreshold.inWords) are free, may purge "
                + "it earlier"
        return " A write to a persistent place that needs more than \(beyond.inWords) purges it\(background)."
    }

    private var refusal: String? {
        guard let refusal = file.refusal else { return nil }
        return
            "It cannot be purged now: "
            + "\(RefusalText.reason(refusal.reason, users: refusal.users ?? [], leavesTombstone: false))."
    }
}
