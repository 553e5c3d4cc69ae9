extension PurgeScenario {
    /// The effect of directory policies on purges by a command, in profile `documented`.
    public static let ofPolicies: [PurgeScenario] = [
        PurgeScenario(
            "files over age go after tmp and before the rest of Caches",
            files: [
                File("Library/Caches/web/old", created: 4 * .day, used: .hour),
                File("Library/Caches/web/new", created: 2 * .day), File("Library/Caches/other", created: 9 * .day),
                File("tmp/t", created: 60),
            ],
            folders: [Folder("Library/Caches/web", after: 3 * .day)], demand: .room(4),
            gone: [
                Gone("tmp/t", "temporary"), Gone("Library/Caches/web/old", "policyAge"),
                Gone("Library/Caches/other", "caches"), Gone("Library/Caches/web/new", "caches"),
            ], isForMounts: true),
        PurgeScenario(
            "under pressure a policy makes nothing purgeable",
            files: [
                File("Documents/feed/old", created: 9 * .day),
                File("Documents/feed/marked", created: 9 * .day, mark: "low"),
                File("Library/Caches/c", created: 9 * .day),
            ],
            folders: [Folder("Documents/feed", after: 1 * .day)], demand: .room(9),
            gone: [Gone("Documents/feed/marked", "policyAge"), Gone("Library/Caches/c", "caches")], isForMounts: true),
        PurgeScenario(
            "urgency and use order the files over a policy, as in every step",
            files: [
                File("Library/Caches/a", created: 5 * .day, used: 2 * .day),
                File("Library/Caches/b", created: 4 * .day, used: 3 * .day),
                File("Documents/marked", created: 9 * .day, used: 4 * .day, mark: "low"),
                File("Documents/urgent", created: 9 * .day, mark: "high"),
            ],
            folders: [Folder("Library/Caches", after: 1 * .day), Folder("Documents", after: 1 * .day)],
            demand: .room(9),
            gone: [
                Gone("Documents/marked", "policyAge"), Gone("Library/Caches/b", "policyAge"),
                Gone("Library/Caches/a", "policyAge"), Gone("Documents/urgent", "policyAge"),
            ]),
        PurgeScenario(
            "a file of tmp goes as such",
            files: [File("tmp/feed/old", created: 9 * .day), File("tmp/new", created: 20 * .day)],
            folders: [Folder("tmp/feed", after: 1 * .day)], demand: .room(9),
            gone: [Gone("tmp/new", "temporary"), Gone("tmp/feed/old", "temporary")]),
        PurgeScenario(
            "in a directory at its limit, the oldest files are over it down to half, whenever they were used",
            files: [
                File("Library/Caches/d/1", 2, created: 9 * .day, used: 60),
                File("Library/Caches/d/2", 2, created: 8 * .day),
                File("Library/Caches/d/3", 2, created: 7 * .day), File("Library/Caches/d/4", 2, created: 6 * .day),
                File("Library/Caches/other", 2, created: 20 * .day),
            ],
            folders: [Folder("Library/Caches/d", limit: 8)], demand: .room(99),
            gone: [
                Gone("Library/Caches/d/2", "policySize"), Gone("Library/Caches/d/1", "policySize"),
                Gone("Library/Caches/other", "caches"), Gone("Library/Caches/d/3", "caches"),
                Gone("Library/Caches/d/4", "caches"),
            ]),
        PurgeScenario(
            "a command for Caches takes files over a policy first",
            files: [
                File("Library/Caches/web/old", created: 4 * .day, used: .hour),
                File("Library/Caches/a", created: 9 * .day),
                File("Documents/old", created: 9 * .day, mark: "low"),
            ],
            folders: [Folder("Library/Caches/web", after: 3 * .day), Folder("Documents", after: 3 * .day)],
            demand: .caches, gone: [Gone("Library/Caches/web/old", "policyAge"), Gone("Library/Caches/a", "caches")],
            isForMounts: true),
    ]

    /// Launches of the app, and writes.
    public static let ofLaunches: [PurgeScenario] = [
        PurgeScenario(
            "the launch takes files over age anywhere, oldest first",
            files: [
                File("Documents/feed/before", created: 3 * .day - 1), File("Documents/feed/at", created: 3 * .day),
                File("Documents/feed/after", created: 3 * .day + 1, used: 60),
                File("Documents/feed/sub/long ago", created: 9 * .day), File("Documents/kept", created: 9 * .day),
            ],
            folders: [Folder("Documents/feed", after: 3 * .day)], demand: .launch,
            gone: [
                Gone("Documents/feed/sub/long ago", "policyAge"), Gone("Documents/feed/after", "policyAge"),
                Gone("Documents/feed/at", "policyAge"),
            ]),
        PurgeScenario(
            "hours before and after the age",
            files: [
                File("Documents/feed/young", created: 6 * .day + 23 * .hour),
                File("Documents/feed/old", created: 7 * .day + .hour, used: 60),
                File("Documents/feed/older", created: 8 * .day),
            ],
            folders: [Folder("Documents/feed", after: 7 * .day)], demand: .launch,
            gone: [Gone("Documents/feed/older", "policyAge"), Gone("Documents/feed/old", "policyAge")],
            isForMounts: true),
        PurgeScenario(
            "files created at the same moment go in the order of their paths",
            files: ["b", "a/z", "a.txt"].map { File("Library/Caches/\($0)", created: .day) },
            folders: [Folder("Library/Caches", after: .day)], demand: .launch,
            gone: ["a.txt", "a/z", "b"].map { Gone("Library/Caches/\($0)", "policyAge") }),
        PurgeScenario(
            "a limit that is reached: oldest first, down to half",
            files: (1...4).map { File("Documents/d/\($0)", 2, created: (10 - $0) * .day) },
            folders: [Folder("Documents/d", limit: 8)], demand: .launch,
            gone: [Gone("Documents/d/1", "policySize"), Gone("Documents/d/2", "policySize")], isForMounts: true),
        PurgeScenario(
            "one block below the limit nothing goes",
            files: (1...4).map { File("Documents/d/\($0)", 2, created: (10 - $0) * .day) },
            folders: [Folder("Documents/d", limit: 9)], demand: .launch, gone: [], isForMounts: true),
        PurgeScenario(
            "one block above it, at most half is left",
            files: (1...4).map { File("Documents/d/\($0)", 2, created: (10 - $0) * .day) },
            folders: [Folder("Documents/d", limit: 7)], demand: .launch,
            gone: ["1", "2", "3"].map { Gone("Documents/d/\($0)", "policySize") }),
        PurgeScenario(
            "age first, then the size of the rest",
            files: (1...6).map { File("Documents/d/\($0)", 2, created: (10 - $0) * .day) },
            folders: [Folder("Documents/d", after: 8 * .day, limit: 8)], demand: .launch,
            gone: [
                Gone("Documents/d/1", "policyAge"), Gone("Documents/d/2", "policyAge"),
                Gone("Documents/d/3", "policySize"), Gone("Documents/d/4", "policySize"),
            ], isForMounts: true),
        PurgeScenario(
            "files belong to the nearest policy, and 0 shields the files below",
            files: [
                File("Documents/d/a", created: 5 * .day), File("Documents/d/strict/b", created: 2 * .day),
                File("Documents/d/lax/c", created: 9 * .day), File("Documents/d/lax/deep/d", created: 9 * .day),
                File("Documents/d/sub/e", created: 4 * .day),
            ],
            folders: [
                Folder("Documents/d", after: 3 * .day), Folder("Documents/d/strict", after: 1 * .day),
                Folder("Documents/d/lax", after: 0),
            ],
            demand: .launch,
            gone: [
                Gone("Documents/d/a", "policyAge"), Gone("Documents/d/sub/e", "policyAge"),
                Gone("Documents/d/strict/b", "policyAge"),
            ], isForMounts: true),
        PurgeScenario(
            "a limit counts only the directory's own files",
            files: [
                File("Documents/d/a", 3, created: 5 * .day), File("Documents/d/inner/b", 9, created: 5 * .day),
            ],
            folders: [Folder("Documents/d", limit: 4), Folder("Documents/d/inner", limit: 0)], demand: .launch,
            gone: []),
        PurgeScenario(
            "open files count and stay; hard-linked files belong to none",
            files: [
                File("Documents/d/open", 4, created: 9 * .day, isOpen: true),
                File("Documents/d/a", 1, created: 5 * .day),
                File("Documents/d/b", 1, created: 4 * .day),
                File("Documents/d/linked", 9, created: 9 * .day, link: "Documents/other"),
            ],
            folders: [Folder("Documents/d", after: 8 * .day, limit: 6)], demand: .launch,
            gone: [Gone("Documents/d/a", "policySize"), Gone("Documents/d/b", "policySize")], isForMounts: true),
        PurgeScenario(
            "a limit below one file",
            files: [File("Documents/d/large", 9, created: .day)], folders: [Folder("Documents/d", limit: 2)],
            demand: .launch, gone: [Gone("Documents/d/large", "policySize")]),
        PurgeScenario(
            "each directory by itself, in the order of their paths",
            files: [
                File("Documents/b/1", created: 9 * .day), File("Documents/a/2", created: 5 * .day),
                File("Documents/a/1", created: 6 * .day), File("Documents/b/kept", created: 2 * .day),
            ],
            folders: [Folder("Documents/b", after: 3 * .day), Folder("Documents/a", after: 3 * .day)],
            demand: .launch,
            gone: [
                Gone("Documents/a/1", "policyAge"), Gone("Documents/a/2", "policyAge"),
                Gone("Documents/b/1", "policyAge"),
            ]),
        PurgeScenario(
            "in tmp a policy goes by its own rule",
            files: [File("tmp/d/1", created: 9 * .day), File("tmp/d/2", created: 2 * .day)],
            folders: [Folder("tmp/d", after: 3 * .day)], demand: .launch, gone: [Gone("tmp/d/1", "policyAge")]),
        PurgeScenario(
            "a write that reaches the limit sets it off, and the open file stays",
            files: (1...4).map { File("Documents/d/\($0)", 2, created: (10 - $0) * .day) },
            folders: [Folder("Documents/d", limit: 10)], demand: .write("Documents/d/new", 2),
            gone: ["1", "2", "3"].map { Gone("Documents/d/\($0)", "policySize") }, isForMounts: true),
        PurgeScenario(
            "a write that does not reach it sets nothing off, not even for files over age",
            files: [File("Documents/d/1", 2, created: 9 * .day), File("Documents/d/2", 2, created: 8 * .day)],
            folders: [Folder("Documents/d", after: 3 * .day, limit: 10)], demand: .write("Documents/d/new", 5),
            gone: []),
        PurgeScenario(
            "the age alone is not checked by a write",
            files: [File("Documents/d/1", 2, created: 9 * .day)],
            folders: [Folder("Documents/d", after: 3 * .day)], demand: .write("Documents/d/new", 5), gone: []),
    ]

    /// All scenarios for profile `documented`.
    public static var documented: [PurgeScenario] {
        ofPlaces + OthersScenarios.all + BehaviourScenarios.marks + BehaviourScenarios.groups
            + BehaviourScenarios.tombstones + ofPolicies + ofLaunches
    }
}
