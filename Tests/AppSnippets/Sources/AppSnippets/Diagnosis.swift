import Foundation

// A diagnosis of a file's location and state.

func diagnoseFileLocation(_ url: URL) -> String {
    let path = url.path
    if path.contains("/tmp/") {
        return "tmp"
    } else if path.contains("/Caches/") {
        return "Caches"
    } else if path.contains("/Documents/") {
        return "Documents"
    } else if path.contains("/Library/Application Support/") {
        return "Application Support"
    }
    return "elsewhere"
}

func diagnoseFileProtection(_ url: URL) throws -> FileProtectionType? {
    let attrs = try FileManager.default.attributesOfItem(atPath: url.path)
    if let protection = attrs[.protectionKey] as? FileProtectionType {
        if protection == .complete {
            print("File inaccessible when device locked")
        }
        return protection
    }
    return nil
}

func diagnoseBackupStatus(_ url: URL) throws -> Bool? {
    let values = try url.resourceValues(forKeys: [.isExcludedFromBackupKey])
    if let excluded = values.isExcludedFromBackup {
        return excluded
    }
    return nil
}

func diagnoseFileState(_ url: URL) -> String {
    if FileManager.default.fileExists(atPath: url.path) {
        if let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int64 {
            return "exists, size: \(size) bytes"
        }
        return "exists"
    } else {
        return "does not exist"
    }
}

func protectFiles(in folder: URL, data: Data) throws -> [URLFileProtection?] {
    try FileManager.default.createDirectory(
        at: folder,
        withIntermediateDirectories: true,
        attributes: [.protectionKey: FileProtectionType.completeUnlessOpen]
    )
    let inherited = folder.appendingPathComponent("inherited.dat")
    try data.write(to: inherited)
    let own = folder.appendingPathComponent("own.dat")
    try data.write(to: own, options: .completeFileProtection)
    let atomic = folder.appendingPathComponent("atomic.dat")
    try data.write(to: atomic, options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
    return try [folder, inherited, own, atomic].map {
        try $0.resourceValues(forKeys: [.fileProtectionKey]).fileProtection
    }
}
