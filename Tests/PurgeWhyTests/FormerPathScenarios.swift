import PurgeModel

@testable import PurgeWhy

// Old paths, from when the container had another UUID.
extension WhyScenario {
    private static func former(_ inner: String, _ reason: String?, _ type: EventType = .app) -> FormerPath {
        let container = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
        let event = reason.map {
            Event(
                time: "2026-11-21T09:30:00.123Z", type: type, reason: $0, pid: 5, cause: container, process: "purgefs",
                realTime: "2026-11-21T09:30:00.123Z")
        }
        return FormerPath(
            path: "/Containers/Data/Application/\(container)/\(inner)", container: container,
            place: "/srv/app/\(inner)", event: event)
    }

    static let formers = [
        WhyScenario(
            name: "an old path, of before an update", answer: .present, path: "Documents/a", events: [],
            file: file(.persistent), former: former("Documents/a", "update")),
        WhyScenario(
            name: "an old path, of before a restore, and deleted since then", answer: .removed, path: "Documents/a",
            events: [removed("Documents/a")], former: former("Documents/a", "12 entries", .restore)),
        WhyScenario(
            name: "an old path, of before a deletion", answer: .appDeleted, path: "Documents/a",
            events: [Event(type: .app, reason: "delete", pid: 5, process: "purgefs")],
            former: former("Documents/a", "delete")),
        WhyScenario(
            name: "an old path of a purged file, with files that were skipped", answer: .purged, path: "tmp/a",
            events: [
                purge(
                    "tmp/a", .temporary, .pressure,
                    passedOver: [PassedOver(path: "tmp/b", reason: .open, pid: 7, process: "tail")])
            ], former: former("tmp/a", "update")),
        WhyScenario(
            name: "an old path of which nothing is known", answer: .unknown, path: "Documents/a", events: [],
            former: former("Documents/a", nil)),
    ]
}
