extension PurgeScenario {
    /// The order of purging without policies, in profile `documented`.
    public static let ofPlaces: [PurgeScenario] = [
        PurgeScenario(
            "tmp, then Caches, then marked files; never anything else",
            files: [
                File("Documents/kept", 9, created: 9 * .day), File("Documents/marked", created: 9 * .day, mark: "low"),
                File("Library/Caches/c", created: 9 * .day), File("tmp/t", created: .hour),
                File("Library/Preferences/p", 9, created: 9 * .day),
            ],
            demand: .room(20),
            gone: [
                Gone("tmp/t", "temporary"), Gone("Library/Caches/c", "caches"), Gone("Documents/marked", "purgeable"),
            ], isForMounts: true),
        PurgeScenario(
            "an app in the foreground keeps neither tmp nor Caches", isRunning: true,
            files: [File("Library/Caches/c", created: 9 * .day), File("tmp/t", created: .hour)],
            demand: .level(.low, 2),
            gone: [Gone("tmp/t", "temporary"), Gone("Library/Caches/c", "caches")], isForMounts: true),
        PurgeScenario(
            "least recently used first, whenever it was made",
            files: [
                File("Library/Caches/old but used", created: 9 * .day, used: 1 * .day),
                File("Library/Caches/new", created: 2 * .day), File("Library/Caches/middle", created: 5 * .day),
            ],
            demand: .room(3),
            gone: [
                Gone("Library/Caches/middle", "caches"), Gone("Library/Caches/new", "caches"),
                Gone("Library/Caches/old but used", "caches"),
            ], isForMounts: true),
        PurgeScenario(
            "files with equal use: the larger first, then by path, byte by byte",
            files: [
                File("Library/Caches/b", 1, created: .day), File("Library/Caches/c", 4, created: .day),
                File("Library/Caches/a/z", 1, created: .day), File("Library/Caches/a.txt", 1, created: .day),
            ],
            demand: .all,
            gone: [
                Gone("Library/Caches/c", "caches"), Gone("Library/Caches/a.txt", "caches"),
                Gone("Library/Caches/a/z", "caches"), Gone("Library/Caches/b", "caches"),
            ]),
        PurgeScenario(
            "urgency before use: low, medium, high",
            files: [
                File("Documents/high", created: 9 * .day, mark: "high"),
                File("Documents/medium", created: 5 * .day, mark: "medium"),
                File("Documents/low", created: 1 * .day, mark: "low"),
                File("Documents/one", created: 2 * .day, mark: "1"),
            ],
            demand: .purgeable,
            gone: ["one", "low", "medium", "high"].map { Gone("Documents/\($0)", "purgeable") }, isForMounts: true),
        PurgeScenario(
            "in tmp and Caches an unmarked file has urgency low, and 0 means nothing",
            files: [
                File("Library/Caches/urgent", created: 9 * .day, mark: "high"),
                File("Library/Caches/zero", created: 3 * .day, mark: "0"),
                File("Library/Caches/plain", created: 2 * .day), File("tmp/medium", created: 9 * .day, mark: "medium"),
                File("tmp/zero", created: 1 * .day, mark: "0"),
            ],
            demand: .all,
            gone: [
                Gone("tmp/zero", "temporary"), Gone("tmp/medium", "temporary"), Gone("Library/Caches/zero", "caches"),
                Gone("Library/Caches/plain", "caches"), Gone("Library/Caches/urgent", "caches"),
            ]),
        PurgeScenario(
            "open and hard-linked files are skipped",
            files: [
                File("tmp/open", created: 9 * .day, isOpen: true), File("tmp/free", created: 1 * .day),
                File("Library/Caches/linked", created: 9 * .day, link: "Library/Caches/other"),
                File("Library/Caches/free", created: 1 * .day),
            ],
            demand: .all, gone: [Gone("tmp/free", "temporary"), Gone("Library/Caches/free", "caches")],
            isForMounts: true),
        PurgeScenario(
            "file by file until it is enough",
            files: (1...4).map { File("Library/Caches/\($0)", 2, created: (10 - $0) * .day) }, demand: .room(3),
            gone: [Gone("Library/Caches/1", "caches"), Gone("Library/Caches/2", "caches")], isForMounts: true),
        PurgeScenario(
            "space of other apps goes first, as much as is short",
            files: [File("tmp/a", created: 2 * .day), File("tmp/b", created: 1 * .day)], others: 3, demand: .room(4),
            gone: [Gone(nil, "others"), Gone("tmp/a", "temporary")], isForMounts: true),
        PurgeScenario(
            "space of other apps is enough",
            files: [File("tmp/a", created: 2 * .day)], others: 3, demand: .room(2), gone: [Gone(nil, "others")]),
        PurgeScenario(
            "a mark of a directory acts on all below, and the nearest value wins",
            files: [
                File("Documents/d/a", created: 3 * .day), File("Documents/d/kept", created: 9 * .day, mark: "0"),
                File("Documents/d/sub/b", created: 9 * .day), File("Documents/d/own", created: 2 * .day, mark: "high"),
            ],
            folders: [Folder("Documents/d", mark: "low"), Folder("Documents/d/sub", mark: "medium")],
            demand: .purgeable,
            gone: [
                Gone("Documents/d/a", "purgeable"), Gone("Documents/d/sub/b", "purgeable"),
                Gone("Documents/d/own", "purgeable"),
            ]),
        PurgeScenario(
            "a command for a place takes nothing else",
            files: [
                File("tmp/t", created: .day), File("Library/Caches/c", created: .day),
                File("Documents/m", created: .day, mark: "low"),
            ],
            others: 3, demand: .tmp, gone: [Gone("tmp/t", "temporary")]),
    ]
}
