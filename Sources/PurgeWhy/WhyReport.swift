import PurgeModel

/// The answer of `purgefs why` (docs/WHY.md). The JSON omits members that do not apply.
struct WhyReport: Encodable {
    enum Answer: String, CaseIterable, Encodable {
        // The path exists.
        case present, inaccessible, emptied, flagLost
        // The path is gone.
        case purged, removed, moved, replaced, appDeleted, tmpEmptied, notRestored
        // The path may exist or not.
        case refused
        // The file was never made.
        case denied
        /// The journal has events of the path, but none explains why it is gone.
        case unrecorded
        /// Neither the container nor the journal knows the path.
        case unknown
    }

    /// A flag of the replaced file that its replacement does not have.
    struct LostFlag: Encodable {
        var flag: String
        var value: String
        var event: Event
    }

    /// The part of history that the journal covers.
    struct Extent: Encodable {
        /// The number of the oldest event; nil for an empty journal.
        var first: Int64?
        var time: String?
        var realTime: String?
        /// The number of events known to be missing within the journal.
        var missing: Int64?
        /// Other known gaps, in the words of the records that report them.
        var lacks: [String]?
        /// True if the journal records no events now.
        var isOff: Bool?
        /// The number of the newest record of a gap.
        var missingBefore: Int64?

        /// True if the journal goes back to the beginning of the store.
        var isWhole: Bool { first == nil || first == 1 }
    }

    /// The path as `Event.path` spells it.
    var path: String
    /// False if the path is not UTF-8, so that other names may share its spelling in the journal.
    var isExact: Bool?
    var container: String
    /// The path that the user named, or its target if it is a link, if that leads into an earlier container.
    var former: FormerPath?
    var answer: Answer
    /// False if the journal does not prove the answer, such as that the name existed at the time of `event`.
    var isCertain: Bool?
    /// False if the file was renamed more often than the search follows.
    var isFollowed: Bool?
    /// True if a newer item is now at `place`, the last known path of the file.
    var isTaken: Bool?
    /// The event that explains the answer.
    var event: Event?
    /// The ancestor folder that `event` happened to; nil if it happened to the file itself.
    var folder: String?
    /// The last known path of the file, if it differs from `path`.
    var place: String?
    /// The moves away from `path`, oldest first.
    var moves: [NameMove]?
    /// The moves that had brought the file to `path`, newest first.
    var origins: [NameMove]?
    /// Some of the files that the purge skipped although their turn had come.
    var passedOver: [PassedOver]?
    /// The update of the app that the purge was part of.
    var update: Event?
    /// The latest refused write to the file.
    var refused: Event?
    /// True if the file has data and was written more than a second after `refused`.
    var isWrittenSince: Bool?
    var protectionDenied: Event?
    var lostFlags: [LostFlag]?
    /// The latest rename over the file.
    var replaced: Event?
    /// The event that ended an earlier file of this name.
    var earlier: Event?
    var file: PresentFile?
    /// The closest known path, as a suggestion.
    var nearest: String?
    /// Sentences on the next step, or on how to prevent the loss.
    var advice: [String] = []
    var journal = Extent()

    init(path: String, container: String, answer: Answer) {
        (self.path, self.container, self.answer) = (path, container, answer)
    }
}
