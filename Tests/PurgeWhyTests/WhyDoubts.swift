import PurgeModel

@testable import PurgeWhy

/// Scenarios in which one step has two events, or the journal leaves doubt.
enum WhyDoubts {
    static let all = steps + doubts

    private static let steps = [
        WhyScenario(
            name: "its folder was exchanged with another", answer: .moved, path: "Documents/now/a",
            events: WhyScenario.exchange("Documents/next", "Documents/now"), others: ["Documents/next/a"]),
        WhyScenario(
            name: "moved, and exchanged twice", answer: .removed, path: "Documents/x",
            events: [WhyScenario.renamed("Documents/x", "Documents/a")]
                + WhyScenario.exchange("Documents/b", "Documents/a")
                + WhyScenario.exchange("Documents/b", "Documents/a") + [WhyScenario.removed("Documents/a")],
            others: ["Documents/b"]),
        WhyScenario(
            name: "moved, and then there and back", answer: .removed, path: "Documents/x",
            events: [
                WhyScenario.renamed("Documents/x", "Documents/a"),
                Event(time: "T", type: .renamed, path: "Documents/a", pid: 13, to: "Documents/b"),
                Event(time: "T", type: .renamed, path: "Documents/b", pid: 13, to: "Documents/a"),
                WhyScenario.removed("Documents/a"),
            ]),
        WhyScenario(
            name: "moved to a name that is replaced again and again", answer: .replaced, path: "Documents/draft",
            events: [
                WhyScenario.renamed("Documents/draft", "Documents/log"),
                WhyScenario.renamed("Documents/log", "Documents/log.1"),
                WhyScenario.replaced("Documents/log.1", "Documents/log"),
                WhyScenario.renamed("Documents/log", "Documents/log.1"),
            ], others: ["Documents/log.1"]),
        WhyScenario(
            name: "its empty folder was replaced", answer: .replaced, path: "Documents/album/a",
            events: [
                WhyScenario.replaced("Documents/album", "Documents/new", "python3"),
                WhyScenario.renamed("Documents/new", "Documents/album", "python3"),
            ], others: ["Documents/album"]),
        WhyScenario(
            name: "a folder that was moved to tmp, and then a reboot", answer: .tmpEmptied, path: "Documents/album",
            events: [
                WhyScenario.renamed("Documents/album", "tmp/album"),
                Event(type: .device, reason: "beforeFirstUnlock", trigger: .reboot, pid: 5, process: "purgefs"),
                WhyScenario.renamed("tmp/album", "Documents/later"),
            ], others: ["Documents/later"]),
        WhyScenario(
            name: "the same in profile device, where a reboot leaves tmp", answer: .moved, path: "Documents/album",
            events: [
                WhyScenario.renamed("Documents/album", "tmp/album"),
                Event(type: .device, reason: "beforeFirstUnlock", trigger: .reboot, pid: 5, process: "purgefs"),
                WhyScenario.renamed("tmp/album", "Documents/later"),
            ], others: ["Documents/later"], profile: .device),
        WhyScenario(
            name: "a folder of tmp after a reboot in profile device", answer: .unknown, path: "tmp/folder",
            events: [Event(type: .device, reason: "beforeFirstUnlock", trigger: .reboot, pid: 5, process: "purgefs")],
            profile: .device),
        WhyScenario(
            name: "a file that was moved to tmp, and then a reboot", answer: .purged, path: "Documents/a",
            events: [
                WhyScenario.renamed("Documents/a", "tmp/a"),
                Event(type: .device, reason: "beforeFirstUnlock", trigger: .reboot, pid: 5, process: "purgefs"),
                Event(type: .purge, path: "tmp/a", reason: "reboot", trigger: .reboot, pid: 5, process: "purgefs"),
            ]),
        WhyScenario(
            name: "moved away and back", answer: .flagLost, path: "Documents/a",
            events: [
                Event(type: .flagLost, path: "Documents/a", reason: "isExcludedFromBackup=1", pid: 13),
                WhyScenario.renamed("Documents/a", "tmp/a"), WhyScenario.renamed("tmp/a", "Documents/a"),
            ], file: WhyScenario.file(.persistent, refusal: .notPurgeable)),
    ]

    private static let refused = Event(
        type: .refused, path: "Documents/a", tier: .persistent, bytes: ByteCount(1 << 20), pid: 9, process: "cp",
        pressure: .veryLow)
    private static func written(_ time: String, size: Int64 = 5000) -> PresentFile {
        var file = WhyScenario.file(.persistent, size: size, refusal: .notPurgeable)
        file.written = time
        return file
    }

    private static let doubts = [
        WhyScenario(
            name: "refused, and written to since then", answer: .present, path: "Documents/a", events: [refused],
            file: written(ListedEvents.time(2))),
        WhyScenario(
            name: "refused, and cleaned up at once", answer: .refused, path: "Documents/a", events: [refused],
            file: written(ListedEvents.time(1))),
        WhyScenario(
            name: "refused, and emptied", answer: .refused, path: "Documents/a", events: [refused],
            file: written(ListedEvents.time(2), size: 0)),
        WhyScenario(
            name: "what earlier files of the name have met", answer: .present, path: "Documents/a",
            events: [
                refused, Event(type: .flagLost, path: "Documents/a", reason: "isExcludedFromBackup=1", pid: 13),
                WhyScenario.removed("Documents/a"),
            ], file: WhyScenario.file(.persistent, refusal: .notPurgeable)),
        WhyScenario(
            name: "deleted in the moved folder, or before", answer: .removed, path: "Documents/album/a",
            events: [
                WhyScenario.removed("Documents/album/a", 12, "rm"),
                WhyScenario.renamed("Documents/album", "Documents/photos"),
                WhyScenario.removed("Documents/photos/a", 15, "git"),
            ]),
        WhyScenario(
            name: "made in the folder after that was moved", answer: .moved, path: "Documents/album/a",
            events: [WhyScenario.renamed("Documents/album", "Documents/photos")], others: ["Documents/photos/a"],
            since: ["Documents/photos/a": ListedEvents.time(2)]),
        WhyScenario(
            name: "deleted, and made again where the folder went", answer: .removed, path: "Documents/album/a",
            events: [
                WhyScenario.removed("Documents/album/a"), WhyScenario.renamed("Documents/album", "Documents/photos"),
            ],
            others: ["Documents/photos/a"], since: ["Documents/photos/a": ListedEvents.time(3)]),
        WhyScenario(
            name: "deleted, and another was renamed to where the folder went", answer: .removed,
            path: "Documents/album/a",
            events: [
                WhyScenario.removed("Documents/album/a"), WhyScenario.renamed("Documents/album", "Documents/photos"),
                WhyScenario.renamed("Documents/b", "Documents/photos/a"),
            ], others: ["Documents/photos/a"]),
        WhyScenario(
            name: "exchanged where its folder went", answer: .moved, path: "Documents/album/a",
            events: [WhyScenario.renamed("Documents/album", "Documents/photos")]
                + WhyScenario.exchange("Documents/b", "Documents/photos/a"),
            others: ["Documents/photos/a", "Documents/b"]),
        WhyScenario(
            name: "a folder that was moved to a used name, and then a reboot", answer: .tmpEmptied,
            path: "tmp/album",
            events: [
                WhyScenario.renamed("tmp/album", "Documents/old"), WhyScenario.renamed("Documents/album", "tmp/album"),
                Event(type: .device, reason: "beforeFirstUnlock", trigger: .reboot, pid: 5, process: "purgefs"),
            ], others: ["Documents/old"]),
        WhyScenario(
            name: "made after the app was deleted", answer: .present, path: "Documents/a",
            events: [Event(type: .app, reason: "delete", pid: 5, process: "purgefs")],
            file: WhyScenario.file(.persistent, refusal: .notPurgeable)),
        WhyScenario(
            name: "deleted, and made after the app was deleted", answer: .present, path: "Documents/a",
            events: [
                WhyScenario.removed("Documents/a"), Event(type: .app, reason: "delete", pid: 5, process: "purgefs"),
            ], file: WhyScenario.file(.persistent, refusal: .notPurgeable)),
        WhyScenario(
            name: "restored", answer: .present, path: "Documents/a",
            events: [Event(type: .restore, reason: "2 entries of container X, backed up at 2026-11-20T08:00:00.000Z")],
            file: WhyScenario.file(.persistent, refusal: .notPurgeable)),
        WhyScenario(
            name: "gone with the app, as a flag shows", answer: .appDeleted, path: "Documents/a",
            events: [
                WhyScenario.removed("Documents/a"), Event(type: .mark, path: "Documents/a", reason: "isPurgeable=low"),
                Event(type: .app, bytes: ByteCount(9 << 20), reason: "delete", pid: 5, process: "purgefs"),
            ]),
        WhyScenario(
            name: "never there, in a container that was restored", answer: .notRestored, path: "Documents/notes.tx",
            events: [Event(type: .restore, reason: "2 entries of container X, backed up at 2026-11-20T08:00:00.000Z")],
            others: ["Documents/notes.txt"]),
        WhyScenario(
            name: "in tmp, with an event after it was emptied", answer: .unrecorded, path: "tmp/folder",
            events: [
                Event(type: .device, reason: "beforeFirstUnlock", trigger: .reboot, pid: 5, process: "purgefs"),
                Event(type: .mark, path: "tmp/folder", reason: "isPurgeable=low", pid: 9, process: "setfattr"),
                Event(
                    type: .dropped,
                    reason: "up to one second of events: the last mount did not end with an unmount"),
            ]),
    ]
}
