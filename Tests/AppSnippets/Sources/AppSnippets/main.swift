import Foundation

// Runs in a new container of 40 MiB, of which others use 10 MiB (`make snippets`). The expected numbers are computed by hand:
// the low threshold is a tenth of the total, 4 MiB.

let mebibyte = 1_048_576
func expect<Value: Equatable>(_ name: String, _ value: Value, _ expected: Value) {
    guard value != expected else { return }
    print("\(name): \(value) where \(expected) was expected")
    exit(1)
}
func folder(_ place: FileManager.SearchPathDirectory) -> URL {
    FileManager.default.urls(for: place, in: .userDomainMask)[0]
}
let capacities: Set<URLResourceKey> = [
    .volumeTotalCapacityKey, .volumeAvailableCapacityKey, .volumeAvailableCapacityForImportantUsageKey,
    .volumeAvailableCapacityForOpportunisticUsageKey,
]
func expectCapacities(_ name: String, of url: URL, _ total: Int, _ free: Int, _ important: Int, _ opportunistic: Int)
    throws
{
    let values = try url.resourceValues(forKeys: capacities)
    expect("\(name): total", values.volumeTotalCapacity, total * mebibyte)
    expect("\(name): available", values.volumeAvailableCapacity, free * mebibyte)
    expect("\(name): important", values.volumeAvailableCapacityForImportantUsage, Int64(important * mebibyte))
    expect(
        "\(name): opportunistic", values.volumeAvailableCapacityForOpportunisticUsage, Int64(opportunistic * mebibyte))
}
func error(_ body: () throws -> Void) -> String {
    do { try body() } catch { return "\((error as NSError).domain) \((error as NSError).code)" }
    return "none"
}

let home = FileManager.default.homeDirectoryForCurrentUser
let (documents, caches) = (folder(.documentDirectory), folder(.cachesDirectory))
try expectCapacities("at first", of: home, 40, 30, 30, 26)

let essential = try saveFile(data: Data(count: mebibyte), priority: .essential)
let cacheable = try saveFile(data: Data(count: mebibyte), priority: .cacheable)
let temporary = try saveFile(data: Data(count: mebibyte), priority: .temporary)
for place in [home, documents, caches, essential, cacheable, temporary] {
    try expectCapacities(place.lastPathComponent, of: place, 40, 27, 29, 23)
}
expect("excluded", [essential, cacheable, temporary].map(isExcludedFromBackup), [false, true, false])
expect("essential, fits", checkSpaceBeforeSaving(fileSize: Int64(28 * mebibyte), isEssential: true), true)
expect("essential, too large", checkSpaceBeforeSaving(fileSize: Int64(29 * mebibyte), isEssential: true), false)
expect("nice to have, fits", checkSpaceBeforeSaving(fileSize: Int64(22 * mebibyte), isEssential: false), true)
expect("nice to have, too large", checkSpaceBeforeSaving(fileSize: Int64(23 * mebibyte), isEssential: false), false)
expect("thumbnail", [22, 23].map { shouldDownloadThumbnail(size: Int64($0 * mebibyte)) }, [true, false])
expect("document", [28, 29].map { canSaveUserDocument(size: Int64($0 * mebibyte)) }, [true, false])
expect("the branch for new systems", spaceForDocuments(), Int64(29 * mebibyte))
let page = "data:application/octet-stream;base64,\(Data(count: mebibyte).base64EncodedString())"
if let remote = URL(string: page) {
    expect("optional", try await downloadOptionalContent(url: remote, size: Int64(mebibyte), to: caches), true)
    expect("too large", try await downloadOptionalContent(url: remote, size: Int64(25 * mebibyte), to: caches), false)
}

let podcast = try downloadPodcast(url: essential)
expect("podcast", isExcludedFromBackup(url: podcast), true)
try markAsPurgeable(url: podcast)
let marks = try podcast.resourceValues(forKeys: [.isPurgeableKey, .isExcludedFromBackupKey, .fileSizeKey])
expect("marks", [marks.isPurgeable, marks.isExcludedFromBackup], [true, true])
expect("size beside them", marks.fileSize, mebibyte)
expect(
    "keys", Set(marks.allValues.keys.map(\.rawValue)),
    ["NSURLIsPurgeableKey", "NSURLIsExcludedFromBackupKey", "NSURLFileSizeKey"])
expect("not asked for", marks.volumeTotalCapacity, nil)
expect("no mark", try essential.resourceValues(forKeys: [.isPurgeableKey]).isPurgeable, false)
// MiB in use: Documents 1, Application Support 1 (marked), Caches 2, tmp 1.
try expectCapacities("with a marked file", of: home, 40, 25, 29, 21)

try Data(count: 5000).write(to: documents.appendingPathComponent("small.dat"))
try Data().write(to: documents.appendingPathComponent("empty.dat"))
expect("file", getFileSize(url: documents.appendingPathComponent("small.dat")), 8192)
try expectAttributesTakeNoSpace(of: documents.appendingPathComponent("small.dat"))
expect("state", diagnoseFileState(documents.appendingPathComponent("small.dat")), "exists, size: 5000 bytes")
expect("empty file", getFileSize(url: documents.appendingPathComponent("empty.dat")), 0)
expect("folder", getFileSize(url: documents), nil)
expect("folder's files", getDirectorySize(url: documents), Int64(mebibyte + 8192))
try Data(count: mebibyte).write(to: documents.appendingPathComponent("again.dat"))
try markExcludedFromBackup(url: documents.appendingPathComponent("again.dat"))
expect("audit", auditBackupSize(), ["important.dat"])

expect(
    "places", [essential, cacheable, podcast].map(diagnoseFileLocation), ["Documents", "Caches", "Application Support"])
expect("backup", [try diagnoseBackupStatus(essential), try diagnoseBackupStatus(podcast)], [false, true])
expect("class by default", try diagnoseFileProtection(essential), .completeUntilFirstUserAuthentication)
expect(
    "classes", try protectFiles(in: documents.appendingPathComponent("safe"), data: Data(count: 4096)),
    [.completeUnlessOpen, .completeUnlessOpen, .complete, .completeUntilFirstUserAuthentication])
expect("class", try diagnoseFileProtection(documents.appendingPathComponent("safe/own.dat")), .complete)
expect("left beside them", try FileManager.default.contentsOfDirectory(atPath: documents.path + "/safe").count, 3)

let missing = documents.appendingPathComponent("missing")
expect("missing, capacity", error { _ = try missing.resourceValues(forKeys: capacities) }, "NSCocoaErrorDomain 260")
expect("missing, mark", error { _ = try missing.resourceValues(forKeys: [.isPurgeableKey]) }, "NSCocoaErrorDomain 260")
expect("missing, marked", error { try markAsPurgeable(url: missing) }, "NSCocoaErrorDomain 4")

expect("enough room", StorageMonitor().checkStorageAndCleanup(), false)
try Data(count: 18 * mebibyte).write(to: documents.appendingPathComponent("large.dat"))
expect("little room", StorageMonitor().checkStorageAndCleanup(), true)
expect(
    "files in Caches, beside URLSession's own",
    try FileManager.default.contentsOfDirectory(atPath: caches.path).filter { !$0.hasPrefix("org.swift") }, [])
try FileManager.default.removeItem(at: documents.appendingPathComponent("large.dat"))

try expectLinksAreFollowed(in: documents)
try expectClassesOfFolders(in: documents)
try expectSavesWhileLocked(in: documents, home)
try expectOldWay(in: documents)
try expectClassesInTheOldWay(in: documents)
try expectCompleteIsOutOfReach(in: documents, home)
try expectInactiveIsKept(in: documents, home)
try expectLinksKeepTheirClass(in: documents)
try expectFoldersWhileLocked(in: documents, home)
try await expectPurgeableFolders(in: home)
try await expectCleanerWithoutList(in: home)
try await expectCleanerInBackground()
expectRawValues()
try expectCacheIsKeptSmall()
try expectMonitorActsBelowATenth(in: caches)
try await expectCachesAreFilledAgain(in: caches)

// Outside the container, keys return the values that Linux has, or nothing.
func expectOutside(_ outside: URL) throws {
    try Data(count: 5000).write(to: outside, options: .completeFileProtection)
    try markAsPurgeable(url: outside)
    try markExcludedFromBackup(url: outside)
    let elsewhere = try outside.resourceValues(
        forKeys: capacities.union([
            .isPurgeableKey, .isExcludedFromBackupKey, .fileProtectionKey, .fileAllocatedSizeKey,
        ]))
    expect("outside: marks", [elsewhere.isPurgeable, elsewhere.isExcludedFromBackup], [nil, nil])
    expect("outside: class", elsewhere.fileProtection, nil)
    expect("outside: class as an attribute", try diagnoseFileProtection(outside), nil)
    expect("outside: important", elsewhere.volumeAvailableCapacityForImportantUsage, nil)
    expect("outside: opportunistic", elsewhere.volumeAvailableCapacityForOpportunisticUsage, nil)
    expect("outside: total is there", (elsewhere.volumeTotalCapacity ?? 0) > 0, true)
    expect("outside: available is there", elsewhere.volumeAvailableCapacity != nil, true)
    expect("outside: allocated", elsewhere.fileAllocatedSize, 8192)
}
let outside = URL(fileURLWithPath: "/var/tmp/purgefs-snippets-\(ProcessInfo.processInfo.processIdentifier)")
try expectOutside(outside)
try await expectCleanerOutside(outside)
try FileManager.default.removeItem(at: outside)
print("AppSnippets: all as expected")
