import Foundation

// An app that evicts its own caches, oldest files first, before the system does.

class StorageMonitor {
    func checkStorageAndCleanup() -> Bool {
        let homeURL = FileManager.default.homeDirectoryForCurrentUser
        guard
            let values = try? homeURL.resourceValues(forKeys: [
                .volumeAvailableCapacityForOpportunisticUsageKey,
                .volumeTotalCapacityKey,
            ])
        else { return false }
        let availableSpace = values.volumeAvailableCapacityForOpportunisticUsage ?? 0
        let totalSpace = values.volumeTotalCapacity ?? 1
        let percentAvailable = Double(availableSpace) / Double(totalSpace)
        if percentAvailable < 0.10 {
            cleanupCaches()
            return true
        }
        return false
    }

    func cleanupCaches() {
        let cacheURL = FileManager.default.urls(
            for: .cachesDirectory,
            in: .userDomainMask
        )[0]
        for fileURL in oldestFirst(in: cacheURL).prefix(100) {
            try? FileManager.default.removeItem(at: fileURL)
        }
    }
}

func oldestFirst(in folder: URL) -> [URL] {
    guard
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder,
            includingPropertiesForKeys: [.contentModificationDateKey]
        )
    else { return [] }
    return files.sorted { url1, url2 in
        let date1 = (try? url1.resourceValues(forKeys: [.contentModificationDateKey]))?.contentModificationDate
        let date2 = (try? url2.resourceValues(forKeys: [.contentModificationDateKey]))?.contentModificationDate
        return (date1 ?? .distantPast) < (date2 ?? .distantPast)
    }
}
