// Folders that go as a whole in profile `device`.
extension PurgeScenario {
    private static func device(
        _ name: String, isRunning: Bool = false, leftForeground: Int64? = nil, files: [File], folders: [Folder] = [],
        others: Int64 = 0, demand: Demand, gone: [String], isForMounts: Bool = true
    ) -> PurgeScenario {
        PurgeScenario(
            name, profile: "device", isRunning: isRunning, leftForeground: leftForeground, files: files,
            folders: folders, others: others, demand: demand, gone: gone.map { Gone($0, reason(of: $0)) },
            isForMounts: isForMounts)
    }

    /// Returns the reason for purging a file, whether with its folder or because of its mark.
    private static func reason(of path: String) -> String {
        path.hasPrefix("Library/Caches/") ? "caches" : path.hasPrefix("tmp/") ? "temporary" : "purgeable"
    }

    private static let cacheAndMark = [
        File("Library/Caches/c", created: 9 * .day), File("tmp/t", created: 9 * .day),
        File("Documents/marked", created: 9 * .day, mark: "low"),
    ]

    /// A file in Caches, or the marked file, goes for one block that is short.
    private static func short(
        _ name: String, at level: Level, leftForeground: Int64?, gone: String, isForMounts: Bool = true
    ) -> PurgeScenario {
        device(
            name, leftForeground: leftForeground, files: cacheAndMark, demand: .level(level, 1), gone: [gone],
            isForMounts: isForMounts)
    }

    /// The urgency of Caches by the time since the app left the foreground. On a mount the time runs on, so there the limits
    /// are only approached from above.
    public static let ofLastUse: [PurgeScenario] = [
        short("near low takes caches unused for a day", at: .nearLow, leftForeground: .day, gone: "Library/Caches/c"),
        short(
            "near low spares caches used a second less than a day ago", at: .nearLow, leftForeground: .day - 1,
            gone: "Documents/marked", isForMounts: false),
        short(
            "near low spares caches used 23 hours ago", at: .nearLow, leftForeground: 23 * .hour,
            gone: "Documents/marked"),
        short(
            "near low spares caches used 12 hours ago", at: .nearLow, leftForeground: 12 * .hour,
            gone: "Documents/marked", isForMounts: false),
        short(
            "near low takes caches of an app that was never used", at: .nearLow, leftForeground: nil,
            gone: "Library/Caches/c"),
        short("low takes caches unused for 12 hours", at: .low, leftForeground: 12 * .hour, gone: "Library/Caches/c"),
        short(
            "low spares caches used a second less than 12 hours ago", at: .low, leftForeground: 12 * .hour - 1,
            gone: "Documents/marked", isForMounts: false),
        short("low spares caches used 11 hours ago", at: .low, leftForeground: 11 * .hour, gone: "Documents/marked"),
        short(
            "low takes caches unused for weeks", at: .low, leftForeground: 30 * .day, gone: "Library/Caches/c",
            isForMounts: false),
        short(
            "very low takes caches used a minute ago", at: .veryLow, leftForeground: 60, gone: "Library/Caches/c"),
        device(
            "a refused write takes caches used a minute ago", leftForeground: 60, files: cacheAndMark,
            demand: .refused(1), gone: ["Library/Caches/c"]),
        device(
            "growth of other apps takes caches used a minute ago", leftForeground: 60, files: cacheAndMark,
            demand: .taken(1), gone: ["Library/Caches/c"]),
        device(
            "a command with an amount takes caches used a minute ago", leftForeground: 60, files: cacheAndMark,
            demand: .room(1), gone: ["Library/Caches/c"]),
        device(
            "a command for everything takes both folders, and then marks", leftForeground: 60, files: cacheAndMark,
            demand: .all, gone: ["Library/Caches/c", "tmp/t", "Documents/marked"]),
    ]

    /// Files that a folder takes along: an open one, one that keeps a name elsewhere, and an empty one.
    private static func along(_ place: String) -> [File] {
        [
            File("\(place)/open", 3, created: 9 * .day, isOpen: true),
            File("\(place)/linked", 2, created: 8 * .day, link: "Documents/kept"),
            File("\(place)/empty", 0, created: 7 * .day),
        ]
    }

    /// Folders with open, hard-linked and empty files, and the conditions under which they go.
    public static let ofWholeFolders: [PurgeScenario] = [
        device(
            "Caches takes open, hard-linked and empty files along",
            files: along("Library/Caches") + [File("Library/Caches/d/a", created: .day)], demand: .level(.nearLow, 1),
            gone: ["d/a", "empty", "linked", "open"].map { "Library/Caches/\($0)" }),
        device(
            "tmp takes open, hard-linked and empty files along",
            files: along("tmp") + [File("tmp/d/a", created: .day)], demand: .level(.veryLow, 1),
            gone: ["d/a", "empty", "linked", "open"].map { "tmp/\($0)" }),
        device(
            "a folder whose files would free nothing stays",
            files: along("Library/Caches") + along("tmp").dropLast(2)
                + [File("Documents/marked", created: .day, mark: "high")],
            demand: .level(.veryLow, 1), gone: ["Documents/marked"]),
        device(
            "tmp stays if Caches is enough", files: cacheAndMark, demand: .level(.veryLow, 1),
            gone: ["Library/Caches/c"]),
        device(
            "tmp goes if Caches is not enough, and marks stay", files: cacheAndMark, demand: .level(.veryLow, 2),
            gone: ["Library/Caches/c", "tmp/t"]),
        device(
            "low takes Caches and marks, and leaves tmp", files: cacheAndMark, demand: .level(.low, 9),
            gone: ["Library/Caches/c", "Documents/marked"]),
        device(
            "in the foreground a refused write takes marks alone", isRunning: true,
            files: cacheAndMark + [File("Documents/high", created: .day, mark: "high")], demand: .refused(2),
            gone: ["Documents/marked", "Documents/high"]),
        device(
            "in the foreground a command for Caches takes open files along", isRunning: true,
            files: cacheAndMark + along("Library/Caches"), demand: .caches,
            gone: ["c", "empty", "linked", "open"].map { "Library/Caches/\($0)" }),
        device(
            "in the foreground a command for tmp takes open files along", isRunning: true,
            files: cacheAndMark + along("tmp"), demand: .tmp,
            gone: ["empty", "linked", "open", "t"].map { "tmp/\($0)" }),
        device(
            "a command for marked files takes no folder", files: cacheAndMark, demand: .purgeable,
            gone: ["Documents/marked"]),
        PurgeScenario(
            "space of other apps spares the folders", profile: "device", files: cacheAndMark, others: 2,
            demand: .level(.veryLow, 2), gone: [Gone(nil, "others")]),
        PurgeScenario(
            "marked files over a policy go before Caches", profile: "device",
            files: cacheAndMark + [File("Documents/feed/old", created: 4 * .day, mark: "low")],
            folders: [Folder("Documents/feed", after: 3 * .day)], demand: .level(.nearLow, 1),
            gone: [Gone("Documents/feed/old", "policyAge")], isForMounts: true),
        PurgeScenario(
            "a mark over a policy whose urgency is not allowed stays, and Caches goes", profile: "device",
            files: cacheAndMark + [File("Documents/feed/old", created: 4 * .day, mark: "medium")],
            folders: [Folder("Documents/feed", after: 3 * .day)], demand: .level(.nearLow, 1),
            gone: [Gone("Library/Caches/c", "caches")]),
    ]
}
