import ContainerStorage

// Imports the library, which re-exports Foundation. Runs in a new container of 40 MiB, of which others use 10 MiB.

func found() throws -> [Bool] {
    var file = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0].appendingPathComponent("a")
    try Data(count: 5000).write(to: file, options: .completeFileProtection)
    var values = URLResourceValues()
    values.isPurgeable = true
    values.isExcludedFromBackup = true
    try file.setResourceValues(values)
    let read = try file.resourceValues(forKeys: [
        .volumeTotalCapacityKey, .volumeAvailableCapacityKey, .volumeAvailableCapacityForImportantUsageKey,
        .volumeAvailableCapacityForOpportunisticUsageKey, .isPurgeableKey, .isExcludedFromBackupKey, .fileProtectionKey,
        .fileAllocatedSizeKey,
    ])
    let wanted: URLFileProtection? = .complete
    return [
        file.deletingLastPathComponent().path == URL.documentsDirectory.path,
        read.volumeTotalCapacity == 41_943_040, read.volumeAvailableCapacity == 31_457_280 - 8192,
        read.volumeAvailableCapacityForImportantUsage == 31_457_280,
        read.volumeAvailableCapacityForOpportunisticUsage == 27_262_976 - 8192, read.isPurgeable == true,
        read.isExcludedFromBackup == true, read.fileProtection == wanted, read.fileAllocatedSize == 8192,
    ]
}

let all = try found()
print("ByImport: \(all.contains(false) ? "wrong: \(all)" : "all as expected")")
exit(all.contains(false) ? 1 : 0)
