import Foundation
import FoundationNetworking
import Library

// Runs in a new container. Uses a library that has the plugin, but not the plugin: its own calls are Foundation's.

func found() throws -> [Bool] {
    var file = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0].appendingPathComponent("b")
    try Data(count: 5000).write(to: file, options: .completeFileProtection)
    var values = URLResourceValues()
    values.isExcludedFromBackup = true
    try file.setResourceValues(values)
    let read = try file.resourceValues(forKeys: [.isExcludedFromBackupKey, .fileSizeKey])
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    let request: URLRequest = Loader(session: URLSession.shared).request(file)
    return [
        read.isExcludedFromBackup != true, read.fileSize == 5000, attributes[.protectionKey] == nil,
        try isExcluded(file) == false, try room(file) == 31_457_280 - 8192, request.url == file,
    ]
}

let all = try found()
print("LibraryClient: \(all.contains(false) ? "wrong: \(all)" : "all as expected")")
exit(all.contains(false) ? 1 : 0)
