import Foundation

// Links, long names, a locked device, and NSURL.

func classes(_ urls: URL...) throws -> [URLFileProtection?] {
    try urls.map { try $0.resourceValues(forKeys: [.fileProtectionKey]).fileProtection }
}

func expectLinksAreFollowed(in documents: URL) throws {
    let (folder, link) = (documents.appendingPathComponent("2026"), documents.appendingPathComponent("current"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "2026")
    try Data(count: 10).write(to: folder.appendingPathComponent("a"))
    try markExcludedFromBackup(url: folder.appendingPathComponent("a"))
    let values = try link.appendingPathComponent("a").resourceValues(
        forKeys: capacities.union([.isExcludedFromBackupKey]))
    expect("below a link: flag", values.isExcludedFromBackup, true)
    expect("below a link: capacity", values.volumeAvailableCapacityForImportantUsage != nil, true)
    expect("below a link: capacity", values.volumeTotalCapacity, 40 * mebibyte)

    let broken = documents.appendingPathComponent("broken")
    try FileManager.default.createSymbolicLink(atPath: broken.path, withDestinationPath: "made")
    expect("broken link", try broken.resourceValues(forKeys: capacities).volumeTotalCapacity, 40 * mebibyte)
    let outside = URL(fileURLWithPath: "/var/tmp/purgefs-snippets-link-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createSymbolicLink(at: outside, withDestinationURL: documents)
    let home = try outside.resourceValues(forKeys: capacities)
    try FileManager.default.removeItem(at: outside)
    expect("link from elsewhere: total", home.volumeTotalCapacity, 40 * mebibyte)
    expect("link from elsewhere: important", home.volumeAvailableCapacityForImportantUsage != nil, true)

    // A link shows the class of its target.
    let (there, toThere) = (documents.appendingPathComponent("there"), documents.appendingPathComponent("to-there"))
    try Data(count: 10).write(to: there)
    try FileManager.default.createSymbolicLink(atPath: toThere.path, withDestinationPath: "there")
    try Data(count: 10).write(to: toThere, options: .completeFileProtection)
    try Data(count: 10).write(to: broken, options: .completeFileProtectionUnlessOpen)
    expect(
        "through links", try classes(there, documents.appendingPathComponent("made")), [.complete, .completeUnlessOpen])
    try FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUnlessOpen], ofItemAtPath: toThere.path)
    expect("attributes through a link", try classes(there), [.completeUnlessOpen])

    let long = documents.appendingPathComponent(String(repeating: "n", count: 255))
    try Data(count: 10).write(to: long, options: [.atomic, .completeFileProtection])
    expect("the longest name", try classes(long), [.complete])
}

func expectClassesOfFolders(in documents: URL) throws {
    let (outer, inner) = (documents.appendingPathComponent("outer"), documents.appendingPathComponent("outer/in/ner"))
    try FileManager.default.createDirectory(
        at: inner, withIntermediateDirectories: true, attributes: [.protectionKey: FileProtectionType.complete])
    try FileManager.default.createDirectory(
        at: inner, withIntermediateDirectories: true,
        attributes: [.protectionKey: FileProtectionType.completeUnlessOpen])
    expect(
        "all that are new", try classes(documents, outer, outer.appendingPathComponent("in"), inner),
        [nil, .complete, .complete, .complete])
}

func expectSavesWhileLocked(in documents: URL, _ home: URL) throws {
    let control = home.appendingPathComponent(".purgefs")
    let before = try FileManager.default.contentsOfDirectory(atPath: documents.path).count
    try Data("lock".utf8).write(to: control.appendingPathComponent("device.state"))
    try Data("+10s".utf8).write(to: control.appendingPathComponent("device.clock"))
    // A background download can be saved. A file of class complete cannot be created now, and none may be left without a
    // class.
    let saved = documents.appendingPathComponent("download")
    try Data(count: 10).write(to: saved, options: .completeFileProtectionUnlessOpen)
    let secret = documents.appendingPathComponent("secret")
    let refused = FileManager.default.createFile(
        atPath: secret.path, contents: Data(count: 10), attributes: [.protectionKey: FileProtectionType.complete])
    try Data("unlock".utf8).write(to: control.appendingPathComponent("device.state"))
    expect("saved while locked", try Data(contentsOf: saved).count, 10)
    expect("its class", try classes(saved), [.completeUnlessOpen])
    expect("refused while locked", refused, false)
    expect("left", try FileManager.default.contentsOfDirectory(atPath: documents.path).count, before + 1)

    let made = FileManager.default.createFile(
        atPath: secret.path, contents: Data(count: 10),
        attributes: [.protectionKey: FileProtectionType.complete, .posixPermissions: 0o600])
    expect("made", made, true)
    expect("its class", try diagnoseFileProtection(secret), .complete)
    expect(
        "its mode", try FileManager.default.attributesOfItem(atPath: secret.path)[.posixPermissions] as? NSNumber, 0o600
    )
}

func expectOldWay(in documents: URL) throws {
    let url = documents.appendingPathComponent("old")
    try Data(count: 10).write(to: url, options: .completeFileProtection)
    try markExcludedFromBackup(oldWay: url)
    expect("marked", isExcludedFromBackup(url: url), true)
    let values = try (url as NSURL).resourceValues(forKeys: [
        .isExcludedFromBackupKey, .fileProtectionKey, .fileSizeKey, .volumeTotalCapacityKey,
    ])
    expect("flag", values[.isExcludedFromBackupKey] as? Bool, true)
    expect("class", values[.fileProtectionKey] as? URLFileProtection, .complete)
    expect("size", values[.fileSizeKey] as? Int, 10)
    expect("total", values[.volumeTotalCapacityKey] as? Int, 40 * mebibyte)
}
