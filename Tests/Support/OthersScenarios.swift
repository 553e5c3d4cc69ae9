/// Scenarios for the bytes that purging can free from other apps.
public enum OthersScenarios {
    private typealias File = PurgeScenario.File
    private typealias Gone = PurgeScenario.Gone

    /// The shares of a shortfall that other apps give first.
    public static let all: [PurgeScenario] = [
        PurgeScenario(
            "a share of 0: files go first",
            files: [File("tmp/a", 2, created: 2 * .day), File("tmp/b", 2, created: 1 * .day)], others: 9, share: 0,
            demand: .room(2), gone: [Gone("tmp/a", "temporary")], isForMounts: true),
        PurgeScenario(
            "a share of 0: others give the rest",
            files: [File("tmp/a", 2, created: 2 * .day), File("Documents/kept", 9, created: 9 * .day)], others: 9,
            share: 0, demand: .room(5), gone: [Gone("tmp/a", "temporary"), Gone(nil, "others")], isForMounts: true),
        PurgeScenario(
            "a share of 50: half of the shortfall, then files",
            files: [
                File("tmp/a", 2, created: 2 * .day), File("tmp/b", 1, created: 1 * .day),
                File("Library/Caches/c", 1, created: 9 * .day),
            ],
            others: 9, share: 50, demand: .room(6),
            gone: [Gone(nil, "others"), Gone("tmp/a", "temporary"), Gone("tmp/b", "temporary")], isForMounts: true),
        PurgeScenario(
            "a share of 50: the rest after all files, so that it is enough",
            files: [File("tmp/a", 1, created: 2 * .day)], others: 9, share: 50, demand: .room(6),
            gone: [Gone(nil, "others"), Gone("tmp/a", "temporary"), Gone(nil, "others")], isForMounts: true),
        PurgeScenario(
            "a share of 50 that others do not have: files give more",
            files: (1...6).map { File("tmp/\($0)", created: (10 - $0) * .day) }, others: 1, share: 50,
            demand: .room(6), gone: [Gone(nil, "others")] + (1...5).map { Gone("tmp/\($0)", "temporary") }),
        PurgeScenario(
            "a share is rounded up to whole blocks",  // 33 % of 5 blocks are 1.65
            files: (1...6).map { File("tmp/\($0)", created: (10 - $0) * .day) }, others: 9, share: 33,
            demand: .room(5), gone: [Gone(nil, "others")] + (1...3).map { Gone("tmp/\($0)", "temporary") }),
        PurgeScenario(
            "a share of 100: no file as long as others have something",
            files: [File("tmp/a", 2, created: 2 * .day)], others: 5, share: 100, demand: .room(5),
            gone: [Gone(nil, "others")], isForMounts: true),
        PurgeScenario(
            "everything includes all space of others, in spite of their share",
            files: [File("tmp/a", created: 2 * .day)], others: 9, share: 0, demand: .all,
            gone: [Gone(nil, "others"), Gone("tmp/a", "temporary")]),
        PurgeScenario(
            "a command for a place takes nothing of others",
            files: [File("tmp/a", created: 2 * .day)], others: 9, share: 50, demand: .tmp,
            gone: [Gone("tmp/a", "temporary")]),
    ]
}
