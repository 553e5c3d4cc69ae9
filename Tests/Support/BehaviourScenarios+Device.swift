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

    /// Groups and tombstones in profile `device`.
    public static let onDevice: [PurgeScenario] = [
        device(
            "a group in Caches goes with all of it",
            files: [
                File("Library/Caches/g/a", created: 9 * .day), File("Library/Caches/g/b", created: 1 * .day),
                File("Library/Caches/c", created: 5 * .day), File("Library/Caches/d", created: .hour),
            ],
            folders: [Folder("Library/Caches/g", group: true)], demand: .level(.nearLow, 1),
            gone: ["c", "d", "g/a", "g/b"].map { Gone("Library/Caches/\($0)", "caches") }),
        device(
            "a group in tmp goes with all of it",
            files: [File("tmp/g/a", created: 9 * .day), File("tmp/h", created: .hour)],
            folders: [Folder("tmp/g", group: true)], demand: .level(.veryLow, 1),
            gone: ["g/a", "h"].map { Gone("tmp/\($0)", "temporary") }),
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
            "all of Caches goes, and leaves no tombstones",
            files: [
                File("Library/Caches/d/a", created: 5 * .day), File("Library/Caches/c", created: 3 * .day),
                File("Library/Caches/d/b", created: 2 * .day),
            ],
            folders: [Folder("Library/Caches/d", tombstone: true)], demand: .level(.nearLow, 1),
            gone: ["c", "d/a", "d/b"].map { Gone("Library/Caches/\($0)", "caches") }),
        device(
            "the end of a day leaves no tombstones, and takes the old files of a group",
            files: [
                File("tmp/d/old", created: 9 * .day), File("tmp/d/young", created: 1 * .day),
                File("tmp/g/old", created: 8 * .day), File("tmp/g/young", created: 1 * .day),
                PurgeScenario.tenMebibytes,
            ],
            folders: [Folder("tmp/d", tombstone: true), Folder("tmp/g", group: true)], demand: .day,
            gone: ["d/old", "g/old"].map { Gone("tmp/\($0)", "temporary") }),
    ]
}
