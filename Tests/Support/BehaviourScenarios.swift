/// Scenarios for groups, tombstones, and marks of directories.
public enum BehaviourScenarios {
    private typealias File = PurgeScenario.File
    private typealias Folder = PurgeScenario.Folder
    private typealias Gone = PurgeScenario.Gone

    /// Directories whose files are purged together, as one group.
    public static let groups: [PurgeScenario] = [
        PurgeScenario(
            "a group goes as one, although one file would be enough",
            files: [
                File("Library/Caches/g/1", 2, created: 9 * .day), File("Library/Caches/g/sub/2", created: 8 * .day),
                File("Library/Caches/g/3", created: 7 * .day), File("Library/Caches/other", created: 1 * .day),
            ],
            folders: [Folder("Library/Caches/g", group: true)], demand: .room(1),
            gone: ["g/1", "g/sub/2", "g/3"].map { Gone("Library/Caches/\($0)", "caches") }, isForMounts: true),
        PurgeScenario(
            "a group is as recently used as its most recently used file",
            files: [
                File("Library/Caches/g/old", created: 9 * .day),
                File("Library/Caches/g/used", created: 9 * .day, used: 1 * .day),
                File("Library/Caches/a", created: 5 * .day), File("Library/Caches/b", created: .hour),
            ],
            folders: [Folder("Library/Caches/g", group: true)], demand: .room(4),
            gone: ["a", "g/old", "g/used", "b"].map { Gone("Library/Caches/\($0)", "caches") }, isForMounts: true),
        PurgeScenario(
            "a used file in a group spares all of it, as long as others are enough",
            files: [
                File("tmp/g/old", created: 9 * .day), File("tmp/g/new", created: 60), File("tmp/a", created: .hour),
            ],
            folders: [Folder("tmp/g", group: true)], demand: .room(1), gone: [Gone("tmp/a", "temporary")],
            isForMounts: true),
        PurgeScenario(
            "steps and urgencies of a group are units of their own",
            files: [
                File("Documents/g/low", created: 2 * .day, mark: "low"),
                File("Documents/g/low too", created: 3 * .day, mark: "low"),
                File("Documents/g/high", created: 9 * .day, mark: "high"), File("Documents/g/kept", created: 9 * .day),
                File("Documents/other", created: 1 * .day, mark: "low"),
            ],
            folders: [Folder("Documents/g", group: true)], demand: .room(3),
            gone: ["g/low too", "g/low", "other"].map { Gone("Documents/\($0)", "purgeable") }, isForMounts: true),
        PurgeScenario(
            "0 shields from a group, and a group in a group is one of its own",
            files: [
                File("Library/Caches/g/a", created: 9 * .day), File("Library/Caches/g/b", created: 6 * .day),
                File("Library/Caches/g/free/c", created: 8 * .day),
                File("Library/Caches/g/free/d", created: 5 * .day),
                File("Library/Caches/g/free/inner/e", created: 7 * .day),
                File("Library/Caches/g/free/inner/f", created: 4 * .day),
            ],
            folders: [
                Folder("Library/Caches/g", group: true), Folder("Library/Caches/g/free", group: false),
                Folder("Library/Caches/g/free/inner", group: true),
            ],
            demand: .caches,
            gone: ["free/c", "a", "b", "free/d", "free/inner/e", "free/inner/f"].map {
                Gone("Library/Caches/g/\($0)", "caches")
            }, isForMounts: true),
        PurgeScenario(
            "open and hard-linked files of a group are skipped one by one",
            files: [
                File("Library/Caches/g/open", created: 9 * .day, isOpen: true),
                File("Library/Caches/g/linked", created: 9 * .day, link: "Library/Caches/g/other name"),
                File("Library/Caches/g/a", created: 8 * .day), File("Library/Caches/g/b", created: 7 * .day),
            ],
            folders: [Folder("Library/Caches/g", group: true)], demand: .room(1),
            gone: ["a", "b"].map { Gone("Library/Caches/g/\($0)", "caches") }),
        PurgeScenario(
            "units of equal use: the larger, counted together, then by the path of the directory",
            files: [
                File("Library/Caches/b/1", 2, created: .day), File("Library/Caches/b/2", 2, created: .day),
                File("Library/Caches/c/3", 3, created: .day), File("Library/Caches/a.txt", 3, created: .day),
                File("Library/Caches/a/4", 2, created: .day), File("Library/Caches/a/5", 1, created: .day),
            ],
            folders: ["a", "b", "c"].map { Folder("Library/Caches/\($0)", group: true) }, demand: .all,
            // b has 4 blocks and the others have 3. By path, "a" precedes "a.txt".
            gone: ["b/1", "b/2", "a/4", "a/5", "a.txt", "c/3"].map { Gone("Library/Caches/\($0)", "caches") }),
        PurgeScenario(
            "in a group the order is that of files",
            files: [
                File("Library/Caches/g/z", 1, created: .day), File("Library/Caches/g/sub/y", 5, created: .day),
                File("Library/Caches/g/b/x", 1, created: .day), File("Library/Caches/g/old", 1, created: 2 * .day),
            ],
            folders: [Folder("Library/Caches/g", group: true)], demand: .room(1),
            gone: ["old", "sub/y", "b/x", "z"].map { Gone("Library/Caches/g/\($0)", "caches") }),
        PurgeScenario(
            "files of a group that are over a policy are a unit, whether over age or size",
            files: [
                File("Library/Caches/g/old", created: 9 * .day), File("Library/Caches/g/older", created: 10 * .day),
                File("Library/Caches/g/young", created: 2 * .day), File("Library/Caches/other", created: 20 * .day),
                File("Library/Caches/p/old", created: 9 * .day, used: 8 * .day),
            ],
            folders: [
                Folder("Library/Caches/g", after: 5 * .day, group: true), Folder("Library/Caches/p", after: 5 * .day),
            ],
            demand: .room(1),
            gone: ["older", "old"].map { Gone("Library/Caches/g/\($0)", "policyAge") }, isForMounts: true),
        PurgeScenario(
            "a policy itself takes files one by one",
            files: (1...4).map { File("Documents/d/\($0)", 2, created: (10 - $0) * .day) },
            folders: [Folder("Documents/d", limit: 8, group: true)], demand: .launch,
            gone: ["1", "2"].map { Gone("Documents/d/\($0)", "policySize") }, isForMounts: true),
        PurgeScenario(
            "the share of others comes first, and a group goes as one for the rest",
            files: [File("tmp/g/a", created: 2 * .day), File("tmp/g/b", 4, created: 1 * .day)],
            folders: [Folder("tmp/g", group: true)], others: 9, share: 50, demand: .room(2),
            gone: [Gone(nil, "others"), Gone("tmp/g/a", "temporary"), Gone("tmp/g/b", "temporary")]),
    ]

    /// Files that a purge empties instead of removing.
    public static let tombstones: [PurgeScenario] = [
        PurgeScenario(
            "tombstones change neither victims nor order",
            files: [
                File("tmp/t", created: .hour), File("Library/Caches/d/a", created: 5 * .day),
                File("Library/Caches/b", created: 3 * .day), File("Library/Caches/d/sub/c", created: 2 * .day),
            ],
            folders: [Folder("Library/Caches/d", tombstone: true)], demand: .room(4),
            gone: [
                Gone("tmp/t", "temporary"), Gone("Library/Caches/d/a", "caches", isEmptied: true),
                Gone("Library/Caches/b", "caches"), Gone("Library/Caches/d/sub/c", "caches", isEmptied: true),
            ], isForMounts: true),
        PurgeScenario(
            "0 shields from tombstones",
            files: [
                File("Library/Caches/a", created: 5 * .day), File("Library/Caches/x/b", created: 4 * .day),
                File("Library/Caches/x/deep/c", created: 3 * .day), File("Library/Caches/x/t/d", created: 2 * .day),
            ],
            folders: [
                Folder("Library/Caches", tombstone: true), Folder("Library/Caches/x", tombstone: false),
                Folder("Library/Caches/x/t", tombstone: true),
            ],
            demand: .caches,
            gone: [
                Gone("Library/Caches/a", "caches", isEmptied: true), Gone("Library/Caches/x/b", "caches"),
                Gone("Library/Caches/x/deep/c", "caches"), Gone("Library/Caches/x/t/d", "caches", isEmptied: true),
            ], isForMounts: true),
        PurgeScenario(
            "policies leave tombstones too",
            files: (1...4).map { File("Documents/d/\($0)", 2, created: (10 - $0) * .day) },
            folders: [Folder("Documents/d", limit: 8, tombstone: true)], demand: .launch,
            gone: ["1", "2"].map { Gone("Documents/d/\($0)", "policySize", isEmptied: true) }, isForMounts: true),
        PurgeScenario(
            "a group that leaves tombstones, and a folder in it that does not",
            files: [
                File("Documents/g/a", created: 9 * .day), File("Documents/g/plain/b", created: 8 * .day),
                File("Documents/g/c", created: 7 * .day),
            ],
            folders: [
                Folder("Documents/g", mark: "low", group: true, tombstone: true),
                Folder("Documents/g/plain", tombstone: false),
            ],
            demand: .room(1),
            gone: [
                Gone("Documents/g/a", "purgeable", isEmptied: true), Gone("Documents/g/plain/b", "purgeable"),
                Gone("Documents/g/c", "purgeable", isEmptied: true),
            ], isForMounts: true),
    ]

    /// Urgency and inheritance of isPurgeable.
    public static let marks: [PurgeScenario] = [
        PurgeScenario(
            "a directory's urgency orders the files below it, in tmp and Caches too",
            files: [
                File("tmp/later/a", created: 9 * .day), File("tmp/b", created: 1 * .day),
                File("Library/Caches/high/c", created: 9 * .day),
                File("Library/Caches/high/d", created: 9 * .day, mark: "medium"),
                File("Library/Caches/e", created: .hour),
            ],
            folders: [Folder("tmp/later", mark: "medium"), Folder("Library/Caches/high", mark: "high")],
            demand: .all,
            gone: [
                Gone("tmp/b", "temporary"), Gone("tmp/later/a", "temporary"), Gone("Library/Caches/e", "caches"),
                Gone("Library/Caches/high/d", "caches"), Gone("Library/Caches/high/c", "caches"),
            ], isForMounts: true),
        PurgeScenario(
            "a directory's 0 protects the files below it outside of tmp and Caches, up to a nearer mark",
            files: [
                File("Documents/d/a", created: 9 * .day), File("Documents/d/kept/b", created: 9 * .day),
                File("Documents/d/kept/own", created: 8 * .day, mark: "low"),
                File("Documents/d/kept/again/c", created: 7 * .day),
                File("Library/Caches/zero/e", created: 1 * .day),
            ],
            folders: [
                Folder("Documents/d", mark: "low"), Folder("Documents/d/kept", mark: "0"),
                Folder("Documents/d/kept/again", mark: "high"), Folder("Library/Caches/zero", mark: "0"),
            ],
            demand: .all,
            gone: [
                Gone("Library/Caches/zero/e", "caches"), Gone("Documents/d/a", "purgeable"),
                Gone("Documents/d/kept/own", "purgeable"), Gone("Documents/d/kept/again/c", "purgeable"),
            ], isForMounts: true),
        PurgeScenario(
            "a file with several names has only its own mark",
            files: [
                File("Documents/d/inherits", created: 9 * .day),
                File("Documents/d/urgent", created: 8 * .day, mark: "high"),
                File("Documents/d/linked", created: 9 * .day, link: "Documents/d/other name"),
            ],
            folders: [Folder("Documents/d", mark: "medium")], demand: .purgeable,
            gone: [Gone("Documents/d/inherits", "purgeable"), Gone("Documents/d/urgent", "purgeable")]),
        PurgeScenario(
            "the root's mark acts on everything that has no nearer one",
            files: [
                File("Documents/a", created: 2 * .day), File("Library/b", created: 3 * .day),
                File("Library/Preferences/c", created: 9 * .day), File("tmp/t", created: .hour),
            ],
            folders: [Folder("", mark: "low"), Folder("Library/Preferences", mark: "0")], demand: .room(9),
            gone: [Gone("tmp/t", "temporary"), Gone("Library/b", "purgeable"), Gone("Documents/a", "purgeable")]),
    ]
}
