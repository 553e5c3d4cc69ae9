import Foundation

// Caches that an app keeps small, marks as purgeable, and fills again after a purge.

class CacheManager {
    let folder = FileManager.default.urls(
        for: .cachesDirectory,
        in: .userDomainMask
    )[0].appendingPathComponent("managed")

    func addToCache(data: Data, key: String) throws {
        if shouldCleanupCache(addingSize: Int64(data.count)) {
            cleanupOldestFiles(targetSize: 100 * 1_000)
        }
        try data.write(to: folder.appendingPathComponent(key))
    }

    func shouldCleanupCache(addingSize: Int64) -> Bool {
        let homeURL = FileManager.default.homeDirectoryForCurrentUser
        guard
            let values = try? homeURL.resourceValues(forKeys: [
                .volumeAvailableCapacityForOpportunisticUsageKey
            ])
        else { return false }
        let available = values.volumeAvailableCapacityForOpportunisticUsage ?? 0
        return available < 200 * 1_000_000
    }

    func cleanupOldestFiles(targetSize: Int64) {
        for fileURL in oldestFirst(in: folder) where getDirectorySize(url: folder) > targetSize {
            try? FileManager.default.removeItem(at: fileURL)
        }
    }
}

func cacheThumbnail(image: Data, for url: URL) throws -> URL {
    let cacheURL = FileManager.default.urls(
        for: .cachesDirectory,
        in: .userDomainMask
    )[0]
    var thumbnailURL = cacheURL.appendingPathComponent(url.lastPathComponent)
    try image.write(to: thumbnailURL)
    try markAsPurgeable(url: thumbnailURL)
    var resourceValues = URLResourceValues()
    resourceValues.isExcludedFromBackup = true
    try thumbnailURL.setResourceValues(resourceValues)
    return thumbnailURL
}

func loadCachedImage(at cacheURL: URL, download: () async throws -> Data) async throws -> Data {
    if FileManager.default.fileExists(atPath: cacheURL.path),
        let data = try? Data(contentsOf: cacheURL)
    {
        return data
    }
    let data = try await download()
    try data.write(to: cacheURL)
    return data
}

func control(_ name: String) -> URL { home.appendingPathComponent(".purgefs/" + name) }
func set(_ name: String, to text: String) throws { try Data(text.utf8).write(to: control(name)) }

/// Changes the use by others so that the capacity for opportunistic usage becomes `wanted`.
func setOpportunistic(to wanted: Int) throws {
    let values = try home.resourceValues(forKeys: [.volumeAvailableCapacityForOpportunisticUsageKey])
    let excess = values.volumeAvailableCapacityForOpportunisticUsage.map { Int($0) - wanted }
    if let excess, excess != 0 { try set("storage.others", to: excess > 0 ? "+\(excess)" : "\(excess)") }
}

/// Makes files in `folder`, the oldest first, with modification dates in 1970.
func makeOldFiles(_ names: [String], size: Int, in folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (second, name) in names.enumerated() {
        let file = folder.appendingPathComponent(name)
        try Data(count: size).write(to: file)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(second))], ofItemAtPath: file.path)
    }
}

/// Tests the limit of 200 MB one block above and one below, on a larger device. The files and the target of the cleanup
/// are a thousandth of the app's.
func expectCacheIsKeptSmall() throws {
    try set("storage.total", to: "1G")
    let manager = CacheManager()
    try makeOldFiles(["a", "b", "c"], size: 40_000, in: manager.folder)
    let added = [(key: "d", blocks: 48_829, left: ["a", "b", "c", "d"]), ("e", 48_828, ["c", "d", "e"])]
    for (key, blocks, left) in added {
        try setOpportunistic(to: blocks * 4096)
        try manager.addToCache(data: Data(count: 40_000), key: key)
        expect(
            "cache of \(key)", try FileManager.default.contentsOfDirectory(atPath: manager.folder.path).sorted(), left)
    }
    try set("storage.others", to: "10M")
    try set("storage.total", to: "40M")
}

/// Opportunistic usage leaves a tenth of the device free. So the monitor acts when less than a fifth is free, where the
/// pressure is still normal.
func expectMonitorActsBelowATenth(in caches: URL) throws {
    let names = (0...100).map { "old-\($0)" }
    try makeOldFiles(names, size: 1, in: caches)
    for (blocks, left) in [(1025, names), (1024, names), (1023, ["old-100"])] {
        try setOpportunistic(to: blocks * 4096)
        expect("pressure", try String(contentsOf: control("storage.pressure"), encoding: .utf8), "normal\n")
        expect("monitor at \(blocks)", StorageMonitor().checkStorageAndCleanup(), blocks < 1024)
        let found = try FileManager.default.contentsOfDirectory(atPath: caches.path).filter { $0.hasPrefix("old-") }
        expect("left at \(blocks)", Set(found), Set(left))
    }
    try set("storage.others", to: "10M")
}

func expectCachesAreFilledAgain(in caches: URL) async throws {
    let thumbnail = try cacheThumbnail(image: Data(count: 5000), for: caches.appendingPathComponent("thumbnail.png"))
    let marks = try thumbnail.resourceValues(forKeys: [.isPurgeableKey, .isExcludedFromBackupKey])
    expect("thumbnail", [marks.isPurgeable, marks.isExcludedFromBackup], [true, true])
    let image = caches.appendingPathComponent("image.png")
    for (server, loaded) in [("first", "first"), ("second", "first"), ("third", "third")] {
        if server == "third" { try set("storage.reclaim", to: "caches") }
        let data = try await loadCachedImage(at: image) { Data(server.utf8) }
        expect(server, String(decoding: data, as: UTF8.self), loaded)
        expect("\(server), written", try String(contentsOf: image, encoding: .utf8), loaded)
    }
    expect("purged thumbnail", diagnoseFileState(thumbnail), "does not exist")
}
