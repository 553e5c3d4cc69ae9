import Foundation
import Library

// Runs in a new container of 40 MiB, of which others use 10 MiB. Uses a library that has the plugin, and the plugin itself.

final class MockFileManager: FileManager, @unchecked Sendable {
    // @unchecked: this program has one thread.
    var calls: [String] = []
    override func createDirectory(
        at url: URL, withIntermediateDirectories createIntermediates: Bool, attributes: [FileAttributeKey: Any]? = nil
    ) throws { calls.append("folder") }
    override func createFile(
        atPath path: String, contents data: Data?, attributes: [FileAttributeKey: Any]? = nil
    ) -> Bool {
        calls.append("file")
        return true
    }
    override func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
        calls.append("attributes")
        return [.size: UInt64(7)]
    }
}

func mocked() throws -> [Bool] {
    let folder = URL.cachesDirectory.appendingPathComponent("images")
    let mock = MockFileManager()
    let size = try ImageFolder(files: mock, folder: folder).fill()
    return [size == 7, mock.calls == ["folder", "file", "attributes"], access(folder.path, F_OK) != 0]
}

func ours(_ file: URL) throws -> [Bool] {
    var file = file
    try Data(count: 5000).write(to: file, options: .completeFileProtection)
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try file.setResourceValues(values)
    let read = try file.resourceValues(forKeys: [.fileProtectionKey, .isExcludedFromBackupKey])
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    var old: AnyObject?
    try (file as NSURL).getResourceValue(&old, forKey: .isExcludedFromBackupKey)
    return [
        read.fileProtection == Policy().protection, read.isExcludedFromBackup == true, old as? Bool == true,
        attributes[.protectionKey] as? FileProtectionType == .complete, try isExcluded(file) == true,
        try room(file) == 31_457_280 - 8192, try ownValue(file) == -1,
    ]
}

/// A phone has one volume.
func ofRoot() throws -> [Bool] {
    let device = try URL(fileURLWithPath: "/").resourceValues(forKeys: [
        .volumeTotalCapacityKey, .volumeAvailableCapacityForImportantUsageKey, .isExcludedFromBackupKey,
    ])
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: "/")
    return [
        device.volumeTotalCapacity == 41_943_040,
        device.volumeAvailableCapacityForImportantUsage == 31_457_280 - 8192, device.isExcludedFromBackup != true,
        (attributes[.systemSize] as? NSNumber)?.intValue == 41_943_040,
    ]
}

func groups() -> [Bool] {
    let group = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.org.example")
    let end = "/Library/Application Support/App groups of purgefs, not shared/group.org.example"
    return [
        group?.path.hasSuffix(end) == true, group.map { access($0.path, W_OK) == 0 } == true,
        FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "../x") == nil,
    ]
}

let file = URL.documentsDirectory.appendingPathComponent("a")
let request: URLRequest = Loader().request(file)
let network = [request.url == file, Loader().session === URLSession.shared]
let all = try mocked() + ours(file) + ofRoot() + groups() + network
print("PluginClient: \(all.contains(false) ? "wrong: \(all)" : "all as expected")")
exit(all.contains(false) ? 1 : 0)
