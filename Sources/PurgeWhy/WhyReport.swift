import PurgeModel

/// What `purgefs why` answers (docs/WHY.md). The members that do not apply are left out of the JSON.
struct WhyReport: Encodable {
    /// The short answer.
    enum Answer: String, CaseIterable, Encodable {
        // It is there.
        case present, inaccessible, emptied, flagLost
        // It is gone.
        case purged, removed, moved, replaced, appDeleted, tmpEmptied, notRestored
        // It is there or not.
        case refused
        // It was never made.
        case denied
        /// The journal has events of it, and none that says why it is gone.
        case unrecorded
        /// Nothing is known of it.
        case unknown
    }

    /// A flag that a file had, and that the one that has taken its place does not have.
    struct LostFlag: Encodable {
        var flag: String
        var value: String
        var event: Event
    }

    /// What the journal can know.
    struct Extent: Encodable {
        /// The oldest event; nil if there is none.
        var first: Int64?
        var time: String?
        var realTime: String?
        /// So many events are missing among those that it has.
        var missing: Int64?
        /// What else is missing, in the words of the records that say so.
        var lacks: [String]?
        /// True if no events are recorded now.
        var isOff: Bool?
        /// The number of the newest of the records that say so.
        var missingBefore: Int64?

        /// Whether it goes back to the beginning of the store.
        var isWhole: Bool { first == nil || first == 1 }
    }

    /// In the form of `Event.path`.
    var path: String
    /// False if other names, too, become this path in the journal, because they are not UTF-8.
    var isExact: Bool?
    /// The mount point or the store.
    var container: String
    var answer: Answer
    /// False if the journal does not show that there was something of this name then.
    var isCertain: Bool?
    /// False if it was renamed more often than is followed.
    var isFollowed: Bool?
    /// Something newer is where it would be.
    var isTaken: Bool?
    /// What happened to it.
    var event: Event?
    /// The folder above that it happened to, if it did not happen to the file itself.
    var folder: String?
    /// Where it was by then, if that is another path.
    var place: String?
    /// Where it went from `path`, in order.
    var moves: [NameMove]?
    /// How it had come to `path`, the newest move first.
    var origins: [NameMove]?
    /// What came earlier in the order of that purge, and was not taken.
    var passedOver: [PassedOver]?
    /// The update of the app that a purge was part of.
    var update: Event?
    /// The latest write to it that found no room; the latest call that was refused because the device was locked.
    var refused: Event?
    /// It was written to after that.
    var isWrittenSince: Bool?
    var protectionDenied: Event?
    var lostFlags: [LostFlag]?
    /// The latest rename over it.
    var replaced: Event?
    /// How an earlier file of this name came to its end.
    var earlier: Event?
    var file: PresentFile?
    /// A path that may have been meant.
    var nearest: String?
    /// What to do next, or to do otherwise, in sentences.
    var advice: [String] = []
    var journal = Extent()

    init(path: String, container: String, answer: Answer) {
        (self.path, self.container, self.answer) = (path, container, answer)
    }
}
