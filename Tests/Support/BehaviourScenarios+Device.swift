extension BehaviourScenarios {
    private static func device(
        _ name: String, isRunning: Bool = false, files: [PurgeScenario.File], folders: [PurgeScenario.Folder],
        demand: PurgeScenario.Demand, gone: [PurgeScenario.Gone], isForMounts: Bool = true
    ) -> PurgeScenario {
        PurgeScenario(
            name, profile: "device", isRunning: isRunning, files: files, folders: folders, demand: demand, gone: gone,
            isForMounts: isForMounts)
    }

    private typealias File = PurgeScenario.File
    private typealias Folder = PurgeScenario.Folder
    private typealias Gone = PurgeScenario.Gone

    private static let inTemporary = [
        File("tmp/g/a", created: 9 * .day), File("tmp/g/sub/b", created: 5 * .day),
        File("tmp/g/young", created: 1 * .day), File("tmp/h", created: 4 * .day),
    ]

    /// Groups and tombstones in profile `device`.
    public static let onDevice: [PurgeScenario] = [
        device(
            "a group in Caches has its turn in it, and all of Caches goes",
            files: [
                File("Library/Caches/g/a", created: 9 * .day), File("Library/Caches/g/b", created: 1 * .day),
                File("Library/Caches/c", created: 5 * .day), File("Library/Caches/d", created: .hour),
            ],
            folders: [Folder("Library/Caches/g", group: true)], demand: .level(.nearLow, 1),
            gone: ["c", "g/a", "g/b", "d"].map { Gone("Library/Caches/\($0)", "caches") }),
        device(
            "in a group in tmp, files unused for three days go as one", files: inTemporary,
            folders: [Folder("tmp/g", group: true)], demand: .level(.low, 2),
            gone: ["h", "g/a", "g/sub/b"].map { Gone("tmp/\($0)", "temporary") }),
        device(
            "at very low all of a group in tmp goes as one", files: inTemporary,
            folders: [Folder("tmp/g", group: true)], demand: .level(.veryLow, 2),
            gone: ["h", "g/a", "g/sub/b", "g/young"].map { Gone("tmp/\($0)", "temporary") }),
        device(
            "in a group, files of the urgency go as one",
            files: [
                File("Documents/g/low", created: 2 * .day, mark: "low"),
                File("Documents/g/low too", created: 3 * .day, mark: "low"),
                File("Documents/g/medium", created: 9 * .day, mark: "medium"),
            ],
            folders: [Folder("Documents/g", group: true)], demand: .level(.nearLow, 1),
            gone: ["low too", "low"].map { Gone("Documents/g/\($0)", "purgeable") }),
        device(
            "in the foreground the part of a group that is in Caches stays", isRunning: true,
            files: [
                File("Library/Caches/a", created: 9 * .day), File("Library/Preferences/b", created: 8 * .day),
                File("Library/Preferences/c", created: 4 * .day),
            ],
            folders: [Folder("Library", mark: "low", after: 3 * .day, group: true)], demand: .level(.nearLow, 1),
            // In a mount, the launch carries out the policy.
            gone: ["b", "c"].map { Gone("Library/Preferences/\($0)", "policyAge") }, isForMounts: false),
        device(
            "a group goes as one for a write that was refused",
            files: [
                File("Documents/g/a", created: 2 * .day, mark: "low"), File("Documents/g/b", created: 60, mark: "low"),
                File("Documents/other", created: 30, mark: "low"),
            ],
            folders: [Folder("Documents/g", group: true)], demand: .refused(1),
            gone: ["a", "b"].map { Gone("Documents/g/\($0)", "purgeable") }),
        device(
            "all of Caches goes, and tombstones stay",
            files: [
                File("Library/Caches/d/a", created: 5 * .day), File("Library/Caches/c", created: 3 * .day),
                File("Library/Caches/d/b", created: 2 * .day),
            ],
            folders: [Folder("Library/Caches/d", tombstone: true)], demand: .level(.nearLow, 1),
            gone: [
                Gone("Library/Caches/d/a", "caches", isEmptied: true), Gone("Library/Caches/c", "caches"),
                Gone("Library/Caches/d/b", "caches", isEmptied: true),
            ]),
        device(
            "the end of a day leaves no tombstones, and takes the old files of a group",
            files: [
                File("tmp/d/old", created: 9 * .day), File("tmp/d/young", created: 1 * .day),
                File("tmp/g/old", created: 8 * .day), File("tmp/g/young", created: 1 * .day),
            ],
            folders: [Folder("tmp/d", tombstone: true), Folder("tmp/g", group: true)], demand: .day,
            gone: ["d/old", "g/old"].map { Gone("tmp/\($0)", "temporary") }),
    ]
}
