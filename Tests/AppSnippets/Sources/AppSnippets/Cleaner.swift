import Foundation

// The cleaner of mPaaS: without a list, with a damaged list, outside a container, and in the background.

private let list = Bundle.main.bundleURL.appendingPathComponent("PurgeableCache.plist")

/// The reports of a cleaning with at most one task.
private func reports(of megabytes: Double) -> [String] {
    [
        "preCalculating 0.0", "preCalculating 1.0", "cleaning 0.0", "cleaning 1.0", "postCalculating 0.0",
        "postCalculating 1.0", "done \(megabytes)",
    ]
}

/// Cleans with `data` as the list. Returns the reports, and which of two files are left: one in a manual folder, and one
/// that a list may name.
private func clean(with data: Data?, in home: URL) async throws -> (reports: [String], left: [String]) {
    let names = ["Documents/drafts/1", "Documents/feed/1"]
    for name in names { try Data(count: 1 << 19).write(to: home.appendingPathComponent(name)) }
    try data?.write(to: list)
    defer { try? FileManager.default.removeItem(at: list) }
    let reports = await clearCache().reports
    return (reports, names.filter { FileManager.default.fileExists(atPath: home.path + "/" + $0) })
}

/// Without a list, only manual folders are emptied. With a list that cannot be parsed or has an unknown key, nothing is
/// removed.
func expectCleanerWithoutList(in home: URL) async throws {
    let mistyped = try PropertyListSerialization.data(
        fromPropertyList: [["Path": "Documents/feed", "Entry": ["*.tmp"]]], format: .xml, options: 0)
    let damaged = ["Documents/drafts/1", "Documents/feed/1"]
    for (data, left, megabytes) in [
        (Data("<plist>".utf8), damaged, 0.0), (mistyped, damaged, 0), (nil, ["Documents/feed/1"], 0.5),
    ] {
        let cleaned = try await clean(with: data, in: home)
        expect("reports", cleaned.reports, reports(of: megabytes))
        expect("left", cleaned.left, left)
    }
}

/// Outside a container, here in the folder of `file`, the list is not carried out.
func expectCleanerOutside(_ file: URL) async throws {
    setenv("CFFIXED_USER_HOME", file.deletingLastPathComponent().path, 1)
    try PropertyListSerialization.data(fromPropertyList: ["Path": file.lastPathComponent], format: .xml, options: 0)
        .write(to: list)
    defer { try? FileManager.default.removeItem(at: list) }
    expect("outside: reports", await clearCache().reports, reports(of: 0))
    expect("outside: left", FileManager.default.fileExists(atPath: file.path), true)
}

/// The class method waits for the caller, which goes on only once `execute` has returned.
func expectCleanerInBackground() async throws {
    let (returned, results) = (DispatchSemaphore(value: 0), Calls())
    APUserCacheCleaner.setMethod("wait", of: "Caller") {
        results.note("\(returned.wait(timeout: .now() + 60))")
    }
    try PropertyListSerialization.data(
        fromPropertyList: [["Class": "Caller", "Selectors": ["wait"]]], format: .xml, options: 0
    ).write(to: list)
    defer { try? FileManager.default.removeItem(at: list) }
    await withCheckedContinuation { end in
        APUserCacheCleaner.execute { phase, _ in if phase == .done { end.resume() } }
        returned.signal()
    }
    expect("execute returned at once", results.all, ["success"])
}

func expectRawValues() {
    expect("phases", APCacheCleanPhase.allCases.map(\.rawValue), [0, 1, 2, 3])
    expect("types", APPurgeableType.allCases.map(\.rawValue), [0, 3, 7, 14, 30])
}
