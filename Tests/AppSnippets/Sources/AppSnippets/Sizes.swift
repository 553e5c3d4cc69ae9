import Foundation

// The space that files take, and their share of a backup.

func getFileSize(url: URL) -> Int64? {
    let values = try? url.resourceValues(forKeys: [
        .fileAllocatedSizeKey,
        .totalFileAllocatedSizeKey,
    ])
    return values?.totalFileAllocatedSize.map { Int64($0) }
}

func getDirectorySize(url: URL) -> Int64 {
    guard
        let enumerator = FileManager.default.enumerator(
            at: url,
            includingPropertiesForKeys: [.totalFileAllocatedSizeKey]
        )
    else { return 0 }
    var totalSize: Int64 = 0
    for case let fileURL as URL in enumerator {
        if let size = getFileSize(url: fileURL) {
            totalSize += size
        }
    }
    return totalSize
}

/// A file's attributes take no space, so the total size is not larger than the size of the data.
func expectAttributesTakeNoSpace(of url: URL) throws {
    let (key, attributes) = (FileAttributeKey("NSFileExtendedAttributes"), ["user.note": Data(count: 3000)])
    try FileManager.default.setAttributes([key: attributes], ofItemAtPath: url.path)
    let found = try FileManager.default.attributesOfItem(atPath: url.path)[key] as? [String: Data]
    expect("long attribute", found?["user.note"]?.count, 3000)
    let values = try url.resourceValues(forKeys: [.fileAllocatedSizeKey, .totalFileAllocatedSizeKey])
    expect("sizes beside it", [values.fileAllocatedSize, values.totalFileAllocatedSize], [8192, 8192])
}

func auditBackupSize() -> [String] {
    let documentsURL = FileManager.default.urls(
        for: .documentDirectory,
        in: .userDomainMask
    )[0]
    let size = getDirectorySize(url: documentsURL)
    print("Documents (backed up): \(size / 1_000_000) MB")
    return size > 2 * 1_000_000 ? findLargeFiles(in: documentsURL) : []
}

func findLargeFiles(in directory: URL) -> [String] {
    guard
        let enumerator = FileManager.default.enumerator(
            at: directory,
            includingPropertiesForKeys: [.totalFileAllocatedSizeKey]
        )
    else { return [] }
    var found: [String] = []
    for case let fileURL as URL in enumerator {
        if let size = getFileSize(url: fileURL), size > 1_000_000, !isExcludedFromBackup(url: fileURL) {
            found.append(fileURL.lastPathComponent)
        }
    }
    return found
}
