extension PurgeScenario {
    private static func device(
        _ name: String, isRunning: Bool = false, leftForeground: Int64? = nil, files: [File], folders: [Folder] = [],
        others: Int64 = 0, demand: Demand, gone: [Gone], isForMounts: Bool = false
    ) -> PurgeScenario {
        PurgeScenario(
            name, profile: "device", isRunning: isRunning, leftForeground: leftForeground, files: files,
            folders: folders, others: others, demand: demand, gone: gone, isForMounts: isForMounts)
    }

    static let marks = [
        File("Documents/high", created: 9 * .day, mark: "high"),
        File("Documents/medium", created: 8 * .day, mark: "medium"),
        File("Documents/low", created: 2 * .day, mark: "low"), File("Documents/kept", created: 20 * .day),
    ]

    /// The order of purging in profile `device`, under pressure.
    public static let ofDevicePressure: [PurgeScenario] = [
        device(
            "all of Caches goes at once, though one file is enough",
            files: [
                File("Library/Caches/a", 2, created: 5 * .day), File("Library/Caches/sub/b", created: 2 * .day),
                File("tmp/t", created: 1 * .day), File("Documents/marked", created: 9 * .day, mark: "low"),
            ],
            demand: .level(.nearLow, 1),
            gone: [Gone("Library/Caches/a", "caches"), Gone("Library/Caches/sub/b", "caches")], isForMounts: true),
        device(
            "Caches is spared in the foreground", isRunning: true,
            files: [
                File("Library/Caches/c", 4, created: 9 * .day), File("Documents/marked", created: .day, mark: "low"),
            ],
            demand: .level(.nearLow, 3), gone: [Gone("Documents/marked", "purgeable")], isForMounts: true),
        device(
            "even at the highest urgency, and so is tmp", isRunning: true,
            files: [
                File("Library/Caches/c", 4, created: 9 * .day),
                File("Library/Caches/m", created: 9 * .day, mark: "low"),
                File("tmp/new", created: 60),
            ] + marks,
            demand: .level(.veryLow, 99),
            gone: ["low", "medium", "high"].map { Gone("Documents/\($0)", "purgeable") }, isForMounts: true),
        device(
            "near low takes marks of low urgency", files: marks, demand: .level(.nearLow, 9),
            gone: [Gone("Documents/low", "purgeable")]),
        device(
            "low also takes marks of medium urgency", files: marks, demand: .level(.low, 9),
            gone: [Gone("Documents/low", "purgeable"), Gone("Documents/medium", "purgeable")], isForMounts: true),
        device(
            "very low takes all marks, and stops when it is enough", files: marks, demand: .level(.veryLow, 2),
            gone: [Gone("Documents/low", "purgeable"), Gone("Documents/medium", "purgeable")]),
        device(
            "low takes nothing in tmp, however long it was unused",
            files: [File("tmp/old", created: 40 * .day), File("tmp/marked", created: 9 * .day, mark: "low")],
            demand: .level(.low, 9), gone: [], isForMounts: true),
        device(
            "at very low all of tmp goes at once, though one file is enough",
            files: [
                File("tmp/new", created: 60), File("tmp/d/old", created: 4 * .day),
                File("tmp/high", created: .day, mark: "high"), File("Documents/marked", created: 9 * .day, mark: "low"),
            ],
            demand: .level(.veryLow, 1), gone: ["d/old", "high", "new"].map { Gone("tmp/\($0)", "temporary") },
            isForMounts: true),
        device(
            "others, then Caches, then tmp, then marks",
            files: [
                File("Library/Caches/c", created: 1 * .day), File("tmp/t", created: 9 * .day),
                File("Library/Preferences/p", created: 9 * .day),
            ] + marks,
            others: 3, demand: .level(.veryLow, 99),
            gone: [
                Gone(nil, "others"), Gone("Library/Caches/c", "caches"), Gone("tmp/t", "temporary"),
                Gone("Documents/low", "purgeable"), Gone("Documents/medium", "purgeable"),
                Gone("Documents/high", "purgeable"),
            ], isForMounts: true),
        device(
            "space of other apps is enough", files: [File("Library/Caches/c", created: 9 * .day)], others: 3,
            demand: .level(.low, 2), gone: [Gone(nil, "others")], isForMounts: true),
        device(
            "space of other apps is not enough",
            files: [File("Library/Caches/c", created: 9 * .day), File("Library/Caches/d", created: 8 * .day)],
            others: 3,
            demand: .level(.low, 4),
            gone: [Gone(nil, "others"), Gone("Library/Caches/c", "caches"), Gone("Library/Caches/d", "caches")]),
        device(
            "an urgency in Caches spares no file",
            files: [
                File("Library/Caches/urgent", created: 9 * .day, mark: "high"),
                File("Library/Caches/plain", created: 1 * .day),
                File("Library/Caches/medium", created: 5 * .day, mark: "medium"),
            ],
            demand: .level(.nearLow, 1),
            gone: ["medium", "plain", "urgent"].map { Gone("Library/Caches/\($0)", "caches") }),
        device(
            "files over a policy go first, one by one",
            files: [
                File("Library/Caches/web/old", created: 4 * .day, used: .hour),
                File("Library/Caches/web/older", created: 5 * .day, used: 2 * .hour),
                File("Library/Caches/web/new", created: 2 * .day), File("Library/Caches/other", created: 9 * .day),
            ],
            folders: [Folder("Library/Caches/web", after: 3 * .day)], demand: .level(.nearLow, 1),
            gone: [Gone("Library/Caches/web/older", "policyAge")]),
        device(
            "and then all of Caches",
            files: [
                File("Library/Caches/web/old", created: 4 * .day, used: .hour),
                File("Library/Caches/web/new", created: 2 * .day), File("Library/Caches/other", created: 9 * .day),
            ],
            folders: [Folder("Library/Caches/web", after: 3 * .day)], demand: .level(.nearLow, 2),
            gone: [
                Gone("Library/Caches/web/old", "policyAge"), Gone("Library/Caches/other", "caches"),
                Gone("Library/Caches/web/new", "caches"),
            ]),
        device(
            "in the foreground a policy makes nothing of Caches purgeable", isRunning: true,
            files: [
                File("Library/Caches/web/old", created: 4 * .day),
                File("Documents/feed/old", created: 4 * .day, mark: "low"),
                File("Documents/feed/urgent", created: 4 * .day, mark: "high"),
            ],
            folders: [Folder("Library/Caches/web", after: 3 * .day), Folder("Documents/feed", after: 3 * .day)],
            demand: .level(.low, 9), gone: [Gone("Documents/feed/old", "policyAge")]),
    ]

    /// Other triggers of a purge in profile `device`, and events that trigger none.
    public static let ofDeviceEvents: [PurgeScenario] = [
        device(
            "a refused write has all it needs purged",
            files: [File("tmp/new", created: 60), File("tmp/newer", created: 30)] + marks, demand: .refused(3),
            gone: [Gone("tmp/new", "temporary"), Gone("tmp/newer", "temporary"), Gone("Documents/low", "purgeable")],
            isForMounts: true),
        device(
            "a write that purging cannot serve has nothing purged", files: [File("tmp/new", created: 60)] + marks,
            demand: .refused(50), gone: [], isForMounts: true),
        device(
            "Caches does not serve it in the foreground", isRunning: true,
            files: [File("Library/Caches/c", 9, created: 9 * .day), File("tmp/t", created: 60)], demand: .refused(2),
            gone: [], isForMounts: true),
        device(
            "growth of other apps purges at the highest urgency", isRunning: true,
            files: [File("Library/Caches/c", 9, created: 9 * .day), File("tmp/new", created: 60)] + marks,
            demand: .taken(3), gone: ["low", "medium", "high"].map { Gone("Documents/\($0)", "purgeable") },
            isForMounts: true),
        device(
            "in the background it takes all of Caches",
            files: [
                File("Library/Caches/a", created: 9 * .day), File("Library/Caches/b", created: 60),
                File("tmp/t", created: 9 * .day),
            ],
            demand: .taken(1), gone: [Gone("Library/Caches/a", "caches"), Gone("Library/Caches/b", "caches")],
            isForMounts: true),
        device(
            "a command that names Caches takes it in the foreground too", isRunning: true,
            files: [File("Library/Caches/c", created: 9 * .day), File("tmp/t", created: 9 * .day)], demand: .caches,
            gone: [Gone("Library/Caches/c", "caches")], isForMounts: true),
        device(
            "a command with an amount spares it", isRunning: true,
            files: [File("Library/Caches/c", created: 9 * .day), File("tmp/t", created: 60)], demand: .room(2),
            gone: [], isForMounts: true),
        device(
            "and so does a command for everything", isRunning: true,
            files: [File("Library/Caches/c", created: 9 * .day), File("tmp/t", created: 60)] + marks, demand: .all,
            gone: ["low", "medium", "high"].map { Gone("Documents/\($0)", "purgeable") }),
        device(
            "an amount brings all of Caches with it",
            files: [
                File("Library/Caches/a", created: 9 * .day), File("Library/Caches/b", created: 60),
                File("tmp/t", created: 9 * .day),
            ],
            demand: .room(1), gone: [Gone("Library/Caches/a", "caches"), Gone("Library/Caches/b", "caches")],
            isForMounts: true),
        device(
            "the end of a day takes files of tmp unused for three days",
            files: [
                File("tmp/old", created: 9 * .day, used: 3 * .day + .hour), File("tmp/d/older", created: 5 * .day),
                File("tmp/young", created: 9 * .day, used: 2 * .day + 23 * .hour),
                File("tmp/open", created: 9 * .day, isOpen: true),
                File("tmp/linked", created: 9 * .day, link: "tmp/other"), tenMebibytes,
                File("Library/Caches/c", created: 9 * .day), File("Documents/marked", created: 9 * .day, mark: "low"),
            ],
            demand: .day, gone: [Gone("tmp/d/older", "temporary"), Gone("tmp/old", "temporary")], isForMounts: true),
        device(
            "a reboot takes nothing", files: [File("tmp/old", created: 9 * .day), File("tmp/new", created: 60)],
            demand: .reboot, gone: [], isForMounts: true),
    ]

    /// A young file without which the daily removal would leave `tmp` alone.
    static let tenMebibytes = File("tmp/big", 2561, created: 1 * .day)

    /// All scenarios for profile `device`.
    public static var device: [PurgeScenario] {
        ofDevicePressure + ofDeviceEvents + ofWholeFolders + ofLastUse + BehaviourScenarios.onDevice
    }
}
