import Foundation

// Flags that exclude files from a backup, or let the system delete them.

func markExcludedFromBackup(url: URL) throws {
    var url = url
    var resourceValues = URLResourceValues()
    resourceValues.isExcludedFromBackup = true
    try url.setResourceValues(resourceValues)
}

func isExcludedFromBackup(url: URL) -> Bool {
    let values = try? url.resourceValues(forKeys: [.isExcludedFromBackupKey])
    return values?.isExcludedFromBackup ?? false
}

func markAsPurgeable(url: URL) throws {
    var url = url
    var resourceValues = URLResourceValues()
    resourceValues.isPurgeable = true
    try url.setResourceValues(resourceValues)
}

// The style of code from before Swift 3.
func markExcludedFromBackup(oldWay url: URL) throws {
    try (url as NSURL).setResourceValue(true, forKey: .isExcludedFromBackupKey)
}

func downloadPodcast(url: URL) throws -> URL {
    let appSupportURL = FileManager.default.urls(
        for: .applicationSupportDirectory,
        in: .userDomainMask
    )[0]
    let folder = appSupportURL.appendingPathComponent("Podcasts")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let podcastURL = folder.appendingPathComponent(url.lastPathComponent)
    let data = try Data(contentsOf: url)
    try data.write(to: podcastURL)
    try markExcludedFromBackup(url: podcastURL)
    return podcastURL
}

enum FilePriority {
    case essential
    case cacheable
    case temporary
}

func saveFile(data: Data, priority: FilePriority) throws -> URL {
    var url: URL
    switch priority {
    case .essential:
        url = FileManager.default.urls(
            for: .documentDirectory,
            in: .userDomainMask
        )[0].appendingPathComponent("important.dat")
    case .cacheable:
        url = FileManager.default.urls(
            for: .cachesDirectory,
            in: .userDomainMask
        )[0].appendingPathComponent("cache.dat")
    case .temporary:
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("temp.dat")
    }
    try data.write(to: url)
    if priority == .cacheable {
        var resourceValues = URLResourceValues()
        resourceValues.isExcludedFromBackup = true
        try url.setResourceValues(resourceValues)
    }
    return url
}
