import PurgeModel

@testable import PurgeWhy
@testable import PurgeContainers

/// A journal, a container, and a path to ask `purgefs why` about.
struct WhyScenario {
    var name: String
    var answer: WhyReport.Answer
    var path: String
    var events: [Event]
    var file: PresentFile?
    /// Other paths in the container.
    var others: Set<String> = []
    var flags: [String: String] = [:]
    /// For each path, a time at which its entry already existed.
    var since: [String: String] = [:]
    var profile = Profile.documented
    var former: FormerPath?
    /// The number of the first event.
    var first: Int64 = 1

    var report: WhyReport {
        get throws {
            let names = others.union(file == nil ? [] : [path])
            return try WhyInquiry(
                path: path, container: "/srv/app", journal: ListedEvents(events, from: first), profile: profile,
                former: former, file: file,
                flag: { flags[$0] }, exists: { name in names.contains { $0 == name || $0.hasPrefix(name + "/") } },
                since: { since[$0] },
                names: { folder in
                    names.filter { $0.hasPrefix(folder.isEmpty ? "" : folder + "/") }.map {
                        $0.dropFirst(folder.isEmpty ? 0 : folder.count + 1).split(separator: "/").first.map(String.init)
                            ?? ""
                    }.sorted()
                }
            ).report()
        }
    }
}

extension WhyScenario {
    static func removed(_ path: String, _ pid: Int32 = 12, _ process: String = "rm") -> Event {
        Event(type: .removed, path: path, bytes: ByteCount(5000), pid: pid, process: process)
    }
    static func renamed(_ path: String, _ to: String, _ process: String = "mv") -> Event {
        Event(type: .renamed, path: path, pid: 13, to: to, process: process)
    }
    static func exchange(_ path: String, _ to: String) -> [Event] {
        [
            Event(time: "T", type: .renamed, path: path, reason: "exchange", pid: 3, to: to),
            Event(time: "T", type: .renamed, path: to, reason: "exchanged", pid: 3, to: path),
        ]
    }
    static func replaced(_ path: String, _ from: String, _ process: String = "mv") -> Event {
        Event(type: .replaced, path: path, bytes: ByteCount(4096), pid: 13, to: from, process: process)
    }
    static func purge(
        _ path: String, _ reason: PurgeReason, _ trigger: PurgeTrigger, _ pid: Int32? = nil, _ process: String? = nil,
        cause: String? = nil, time: String = "", passedOver: [PassedOver]? = nil
    ) -> Event {
        Event(
            time: time, type: .purge, path: path, tier: .caches, bytes: ByteCount(6 << 20), reason: reason.rawValue,
            trigger: trigger, pid: pid, cause: cause, process: process, lastUse: "2026-11-20T08:00:00.000Z",
            pressure: .low, passedOver: passedOver)
    }
    static func file(
        _ tier: Tier, size: Int64 = 5000, turn: PresentFile.Turn? = nil, refusal: PurgeRefusal? = nil
    ) -> PresentFile {
        PresentFile(
            kind: .file, size: ByteCount(size), charged: ByteCount(size).roundedUp, names: 1, tier: tier, turn: turn,
            refusal: refusal.map { .init(reason: $0, users: $0 == .open ? [user] : nil) })
    }
    private static let user = FileUser(pid: 99, command: "vim notes.txt", manner: "open", path: "/srv/app/tmp/a")

    static let all = purges + removals + moves + lives + presence + knowledge + formers + WhyDoubts.all

    private static let purges = [
        WhyScenario(
            name: "purged for an important write", answer: .purged, path: "Library/Caches/a b",
            events: [
                purge(
                    "Library/Caches/b", .caches, .importantWrite, 42, "cp", cause: "Documents/big", time: "T",
                    passedOver: [
                        PassedOver(path: "Library/Caches/old", reason: .open, pid: 7, process: "vlc"),
                        PassedOver(path: "Library/Caches/older", reason: .severalNames),
                    ]),
                purge("Library/Caches/a b", .caches, .importantWrite, 42, "cp", cause: "Documents/big", time: "T"),
            ]),
        WhyScenario(
            name: "purged because of pressure", answer: .purged, path: "tmp/a",
            events: [purge("tmp/a", .temporary, .pressure, 42, "dd", cause: "Documents/big")]),
        WhyScenario(
            name: "purged because of pressure that a change of the device brought on", answer: .purged, path: "tmp/a",
            events: [purge("tmp/a", .temporary, .pressure, 42, "purgefs")]),
        WhyScenario(
            name: "purged after a change of the device", answer: .purged, path: "Documents/a",
            events: [purge("Documents/a", .purgeable, .capacity, 42, "purgefs")]),
        WhyScenario(
            name: "purged by a policy", answer: .purged, path: "Documents/feed/a",
            events: [purge("Documents/feed/a", .policyAge, .policy)]),
        WhyScenario(
            name: "purged by a policy of size", answer: .purged, path: "Documents/feed/a",
            events: [purge("Documents/feed/a", .policySize, .policy)]),
        WhyScenario(
            name: "purged by a reboot, on a clock that is ahead", answer: .purged, path: "tmp/a",
            events: [
                Event(
                    time: "2026-11-24T09:30:00.500Z", type: .purge, path: "tmp/a", bytes: ByteCount(4096),
                    reason: "reboot", trigger: .reboot, pid: 5, process: "purgefs", realTime: "2026-11-21T09:30:00.123Z"
                )
            ]),
        WhyScenario(
            name: "purged by an update", answer: .purged, path: "tmp/a",
            events: [
                purge("tmp/a", .temporary, .command, 5, "purgefs"),
                Event(type: .app, reason: "update", pid: 5, process: "purgefs"),
            ]),
        WhyScenario(
            name: "purged by a command", answer: .purged, path: "Library/Caches/a",
            events: [purge("Library/Caches/a", .caches, .command, 5, "purgefs")]),
    ]

    private static let removals = [
        WhyScenario(
            name: "deleted by the app", answer: .removed, path: "Documents/a", events: [removed("Documents/a")]),
        WhyScenario(
            name: "moved to another file system", answer: .removed, path: "Documents/a",
            events: [removed("Documents/a", 14, "mv")]),
        WhyScenario(
            name: "gone with its folder", answer: .removed, path: "Documents/album/a",
            events: [removed("Documents/album", 14, "rmdir")]),
        WhyScenario(
            name: "deleted, and then its folder", answer: .removed, path: "Documents/album/a",
            events: [removed("Documents/album/a"), removed("Documents/album")]),
        WhyScenario(
            name: "gone with the app", answer: .appDeleted, path: "Documents/a",
            events: [
                Event(type: .mark, path: "Documents/a", reason: "isPurgeable=low"), removed("Documents/a"),
                Event(type: .app, bytes: ByteCount(9 << 20), reason: "delete", pid: 5, process: "purgefs"),
            ]),
        WhyScenario(
            name: "perhaps gone with the app", answer: .appDeleted, path: "Documents/a",
            events: [Event(type: .app, reason: "delete", pid: 5, process: "purgefs")]),
        WhyScenario(
            name: "a folder of tmp after a reboot", answer: .tmpEmptied, path: "tmp/folder",
            events: [Event(type: .device, reason: "beforeFirstUnlock", trigger: .reboot, pid: 5, process: "purgefs")]),
        WhyScenario(
            name: "not in the backup", answer: .notRestored, path: "Library/Caches/a",
            events: [Event(type: .restore, reason: "2 entries of container X, backed up at 2026-11-20T08:00:00.000Z")]),
    ]

    private static let moves = [
        WhyScenario(
            name: "moved to tmp and purged there", answer: .purged, path: "Documents/a",
            events: [renamed("Documents/a", "tmp/x"), purge("tmp/x", .temporary, .pressure)]),
        WhyScenario(
            name: "the same, asked from where it went", answer: .purged, path: "tmp/x",
            events: [renamed("Documents/a", "tmp/x"), purge("tmp/x", .temporary, .pressure)]),
        WhyScenario(
            name: "moved with its folder, and there", answer: .moved, path: "Documents/album/a",
            events: [renamed("Documents/album", "Documents/photos")], others: ["Documents/photos/a"]),
        WhyScenario(
            name: "moved with its folder and purged there", answer: .purged, path: "Documents/album/a",
            events: [
                renamed("Documents/album", "tmp/album"), renamed("tmp/album", "tmp/old"),
                purge("tmp/old/a", .temporary, .pressure),
            ]),
        WhyScenario(
            name: "moved and deleted there", answer: .removed, path: "Documents/a",
            events: [renamed("Documents/a", "Documents/b"), removed("Documents/b")]),
        WhyScenario(
            name: "moved and replaced there", answer: .replaced, path: "Documents/a",
            events: [
                renamed("Documents/a", "Documents/b"), replaced("Documents/b", "Documents/c"),
                renamed("Documents/c", "Documents/b"),
            ], others: ["Documents/b"]),
        WhyScenario(
            name: "moved over another file, and there", answer: .moved, path: "Documents/a",
            events: [replaced("Documents/b", "Documents/a"), renamed("Documents/a", "Documents/b")],
            others: ["Documents/b"]),
        WhyScenario(
            name: "moved, and lost from sight", answer: .moved, path: "Documents/a",
            events: [renamed("Documents/a", "Documents/b")], first: 501),
        WhyScenario(
            name: "perhaps moved with its folder", answer: .moved, path: "Documents/album/never",
            events: [renamed("Documents/album", "Documents/photos")], others: ["Documents/photos/a"]),
        WhyScenario(
            name: "deleted before its folder was moved", answer: .removed, path: "Documents/album/a",
            events: [removed("Documents/album/a"), renamed("Documents/album", "Documents/photos")],
            others: ["Documents/photos/b"]),
    ]

    private static let lives = [
        WhyScenario(
            name: "a name that was used twice", answer: .removed, path: "tmp/a",
            events: [purge("tmp/a", .temporary, .pressure), removed("tmp/a")]),
        WhyScenario(
            name: "there again after a purge", answer: .present, path: "Library/Caches/a",
            events: [purge("Library/Caches/a", .caches, .pressure)],
            file: file(
                .caches,
                turn: .init(
                    position: 3, of: 20, bytesBefore: ByteCount(12 << 20), reachedBeyond: ByteCount(20 << 20),
                    lowThreshold: ByteCount(6 << 20),
                    reason: "caches"))),
        WhyScenario(
            name: "an earlier file that was refused", answer: .removed, path: "tmp/a",
            events: [
                Event(type: .refused, path: "tmp/a", bytes: ByteCount(4096), pid: 9),
                purge("tmp/a", .temporary, .pressure), removed("tmp/a"),
            ]),
        WhyScenario(
            name: "exchanged with another", answer: .present, path: "Documents/a",
            events: exchange("Documents/a", "Documents/b"), file: file(.persistent, refusal: .notPurgeable)),
    ]

    private static let presence = [
        WhyScenario(
            name: "replaced by an atomic save, which lost a flag", answer: .flagLost, path: "Documents/a",
            events: [
                replaced("Documents/a", "Documents/.a.new", "python3"),
                renamed("Documents/.a.new", "Documents/a", "python3"),
                Event(
                    type: .flagLost, path: "Documents/a", reason: "isExcludedFromBackup=1", pid: 13, process: "python3"),
            ], file: file(.persistent, refusal: .notPurgeable)),
        WhyScenario(
            name: "the same, and the flag was set again", answer: .present, path: "Documents/a",
            events: [
                replaced("Documents/a", "Documents/.a.new"), renamed("Documents/.a.new", "Documents/a"),
                Event(type: .flagLost, path: "Documents/a", reason: "isExcludedFromBackup=1", pid: 13),
                Event(type: .mark, path: "Documents/a", reason: "isExcludedFromBackup=1", pid: 13),
            ], file: file(.persistent, refusal: .notPurgeable), flags: ["isExcludedFromBackup": "1"]),
        WhyScenario(
            name: "in use", answer: .present, path: "tmp/a", events: [], file: file(.temporary, refusal: .open)),
        WhyScenario(
            name: "next to go", answer: .present, path: "tmp/a", events: [],
            file: file(
                .temporary,
                turn: .init(position: 1, of: 1, bytesBefore: .zero, lowThreshold: .zero, reason: "temporary"))),
        WhyScenario(
            name: "a file that gives nothing back", answer: .present, path: "tmp/a", events: [],
            file: file(
                .temporary, size: 0,
                turn: .init(position: 2, of: 2, bytesBefore: .zero, lowThreshold: .zero, reason: "command"))),
        WhyScenario(
            name: "emptied", answer: .emptied, path: "Library/Caches/a",
            events: [
                Event(
                    type: .purge, path: "Library/Caches/a", tier: .caches, bytes: ByteCount(4096), reason: "caches",
                    trigger: .capacity, tombstone: true, pressure: .veryLow)
            ], file: file(.caches, size: 0, refusal: .empty)),
        WhyScenario(
            name: "locked", answer: .inaccessible, path: "Documents/a",
            events: [
                Event(
                    type: .protectionDenied, path: "Documents/a", reason: "open complete locked", pid: 9, process: "cat"
                )
            ], file: locked(.complete)),
        WhyScenario(
            name: "access has expired", answer: .inaccessible, path: "Documents/a",
            events: [
                Event(
                    type: .protectionDenied, path: "Documents/a", reason: "use completeWhenUserInactive inactive",
                    pid: 9, process: "cat")
            ], file: locked(.completeWhenUserInactive)),
        WhyScenario(
            name: "refused, and empty", answer: .refused, path: "Documents/a",
            events: [
                Event(
                    type: .refused, path: "Documents/a", tier: .persistent, bytes: ByteCount(1 << 20), pid: 9,
                    process: "cp", pressure: .veryLow)
            ], file: file(.persistent, size: 0, refusal: .notPurgeable)),
        WhyScenario(
            name: "a folder", answer: .present, path: "Documents", events: [],
            file: PresentFile(kind: .folder, size: .zero, names: 2, tier: .persistent)),
        WhyScenario(
            name: "marked by a folder above", answer: .present, path: "Documents/album/a", events: [], file: marked),
    ]
    private static func locked(_ protection: FileProtection) -> PresentFile {
        var file = file(.persistent, refusal: .notPurgeable)
        file.protection = .init(fileProtection: protection, state: .locked, canBeOpened: false)
        return file
    }
    private static var marked: PresentFile {
        var file = file(
            .persistent,
            turn: .init(
                position: 2, of: 2, bytesBefore: ByteCount(4096), lowThreshold: .zero, reason: "purgeable",
                tombstone: true))
        (file.isPurgeable, file.isPurgeableFrom) = ("high", "Documents/album")
        return file
    }

    private static let knowledge = [
        WhyScenario(
            name: "never made", answer: .denied, path: "Documents/a",
            events: [
                Event(
                    type: .protectionDenied, path: "Documents/a", reason: "create complete locked", pid: 9,
                    process: "cp")
            ]),
        WhyScenario(
            name: "no event of its end", answer: .unrecorded, path: "Documents/a",
            events: [
                Event(type: .mark, path: "Documents/a", reason: "isPurgeable=low", pid: 9, process: "setfattr"),
                Event(type: .dropped, reason: "7 events"),
            ], first: 501),
        WhyScenario(
            name: "a folder of which only what was in it is known", answer: .unrecorded, path: "Library/Caches/thumbs",
            events: [purge("Library/Caches/thumbs/1", .caches, .command, 5, "purgefs")]),
        WhyScenario(
            name: "unknown", answer: .unknown, path: "Documents/notes.tx", events: [Event(type: .mount)],
            others: ["Documents/notes.txt"]),
        WhyScenario(
            name: "unknown, with a mistake in a folder", answer: .unknown, path: "Library/Cahces/a b",
            events: [removed("Library/Caches/c")], others: ["Library/Caches/a b"], first: 2),
        WhyScenario(
            name: "a name with control characters", answer: .removed, path: "tmp/a\nb", events: [removed("tmp/a\nb")]),
    ]
}
