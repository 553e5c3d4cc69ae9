import Foundation

// Checks for space before a file is saved or downloaded.

func checkSpaceBeforeSaving(fileSize: Int64, isEssential: Bool) -> Bool {
    let homeURL = FileManager.default.homeDirectoryForCurrentUser
    do {
        let values = try homeURL.resourceValues(forKeys: [
            .volumeAvailableCapacityForImportantUsageKey,
            .volumeAvailableCapacityForOpportunisticUsageKey,
        ])
        if isEssential {
            let importantCapacity = values.volumeAvailableCapacityForImportantUsage ?? 0
            return fileSize < importantCapacity
        } else {
            let opportunisticCapacity = values.volumeAvailableCapacityForOpportunisticUsage ?? 0
            return fileSize < opportunisticCapacity
        }
    } catch {
        print("Error checking capacity: \(error)")
        return false
    }
}

func shouldDownloadThumbnail(size: Int64) -> Bool {
    let values = try? FileManager.default.homeDirectoryForCurrentUser
        .resourceValues(forKeys: [.volumeAvailableCapacityForOpportunisticUsageKey])
    return size < values?.volumeAvailableCapacityForOpportunisticUsage ?? 0
}

func canSaveUserDocument(size: Int64) -> Bool {
    let values = try? FileManager.default.homeDirectoryForCurrentUser
        .resourceValues(forKeys: [.volumeAvailableCapacityForImportantUsageKey])
    return size < values?.volumeAvailableCapacityForImportantUsage ?? 0
}

func spaceForDocuments() -> Int64? {
    let values = try? FileManager.default.homeDirectoryForCurrentUser
        .resourceValues(forKeys: [.volumeAvailableCapacityForImportantUsageKey, .volumeAvailableCapacityKey])
    if #available(iOS 11.0, *) {
        return values?.volumeAvailableCapacityForImportantUsage
    } else {
        return values?.volumeAvailableCapacity.map { Int64($0) }
    }
}

func downloadOptionalContent(url: URL, size: Int64, to cachesDirectory: URL) async throws -> Bool {
    let homeURL = FileManager.default.homeDirectoryForCurrentUser
    let values = try homeURL.resourceValues(forKeys: [
        .volumeAvailableCapacityForOpportunisticUsageKey
    ])
    guard let available = values.volumeAvailableCapacityForOpportunisticUsage,
        size < available
    else {
        return false
    }
    let data = try await URLSession.shared.data(from: url).0
    try data.write(to: cachesDirectory.appendingPathComponent("optional"))
    return true
}
