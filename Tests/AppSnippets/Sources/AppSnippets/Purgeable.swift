import Foundation

// An app that keeps its files with the storage kit of mPaaS, and lets the user clear the cache.

/// Collects the calls that a cleaner makes.
final class Calls: @unchecked Sendable {
    // @unchecked: a lock guards `lines`.
    private let lock = NSLock()
    private var lines: [String] = []
    func note(_ line: String) { lock.withLock { lines.append(line) } }
    var all: [String] { lock.withLock { lines } }
}

/// Returns the reports of the cleaner, and the methods that it called.
func clearCache() async -> (reports: [String], methods: [String]) {
    let (reports, methods) = (Calls(), Calls())
    for method in ["clearMemory", "clearDisk"] {
        APUserCacheCleaner.setMethod(method, of: "ImageCache") { methods.note(method) }
    }
    await withCheckedContinuation { end in
        APUserCacheCleaner.execute { phase, progress in
            dispatchPrecondition(condition: .onQueue(.main))
            reports.note("\(phase) \(progress)")
            if phase == .done { end.resume() }
        }
    }
    return (reports.all, methods.all)
}

func expectPurgeableFolders(in home: URL) async throws {
    expect("path", APPurgeablePath("Documents/drafts"), home.path + "/Documents/drafts")
    expect("of a type", APPurgeablePathType("Documents/drafts/week", .oneWeek), home.path + "/Documents/drafts/week")
    expect(
        "of a size", APPurgeablePathTypeSize("Library/Caches/feed", .threeDays, 10), home.path + "/Library/Caches/feed")
    expect("refused", [nil, "", "/tmp", "../x"].map { APPurgeablePath($0) }, [nil, nil, nil, nil])
    let policies = try String(contentsOfFile: home.path + "/.purgefs/storage.policies", encoding: .utf8)
    expect(
        "policies", policies,
        """
        {"path":"Documents/drafts","purgeAfter":"0","used":0,"files":0}
        {"path":"Documents/drafts/week","purgeAfter":"1w","used":0,"files":0}
        {"path":"Library/Caches/feed","purgeAfter":"3d","sizeLimit":10485760,"used":0,"files":0}

        """)
    try await expectCleanedFolders(in: home)
    ResetAllPurgeablePaths()
    expect(
        "after the reset",
        ["Documents/drafts/week", "Documents/drafts/week/kept", "Documents/feed/kept"].filter { isThere($0, in: home) },
        ["Documents/drafts/week", "Documents/feed/kept"])
}

private func isThere(_ name: String, in home: URL) -> Bool {
    FileManager.default.fileExists(atPath: home.path + "/" + name)
}

/// The list is beside the program. Its last task is refused, and the others are carried out.
private func expectCleanedFolders(in home: URL) async throws {
    let list = Bundle.main.bundleURL.appendingPathComponent("PurgeableCache.plist")
    let tasks: [[String: Any]] = [
        ["Path": "Library/Caches/images"], ["Path": "Documents/feed", "Entries": ["*.tmp", "*/a*c"]],
        ["Class": "ImageCache", "Selectors": ["clearMemory", "clearDisk"]], ["Path": "../x"],
    ]
    try PropertyListSerialization.data(fromPropertyList: tasks, format: .xml, options: 0).write(to: list)
    defer { try? FileManager.default.removeItem(at: list) }
    let names = [
        "Library/Caches/images/1", "Documents/feed/1.tmp", "Documents/feed/2.tmp/x", "Documents/feed/sub/abc",
        "Documents/drafts/1", "Documents/drafts/week/kept", "Documents/feed/kept", "Documents/feed/sub/abd",
    ]
    for name in names {
        let file = home.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(count: 1 << 19).write(to: file)
    }
    let (reports, methods) = await clearCache()
    expect(
        "reports", reports,
        [
            "preCalculating 0.0", "preCalculating 1.0", "cleaning 0.0", "cleaning 0.2", "cleaning 0.4", "cleaning 0.6",
            "cleaning 0.8", "cleaning 1.0", "postCalculating 0.0", "postCalculating 1.0", "done 2.5",
        ])
    expect("methods", methods, ["clearMemory", "clearDisk"])
    expect("after the cleaner", names.filter { isThere($0, in: home) }, Array(names.suffix(3)))
    for name in ["Library/Caches/images", "Documents/feed/2.tmp"] { expect(name, isThere(name, in: home), false) }
}
