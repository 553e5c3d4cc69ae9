import Foundation

// Protection classes: set in every way, kept through links, and on a locked device.

func whileLocked(_ home: URL, _ body: () throws -> Void) throws {
    let control = home.appendingPathComponent(".purgefs")
    try Data("lock".utf8).write(to: control.appendingPathComponent("device.state"))
    try Data("+10s".utf8).write(to: control.appendingPathComponent("device.clock"))
    try body()
    try Data("unlock".utf8).write(to: control.appendingPathComponent("device.state"))
}

/// iOS sets a class as a resource value only through NSURL: `URLResourceValues.fileProtection` is read-only.
func expectClassesInTheOldWay(in documents: URL) throws {
    let url = documents.appendingPathComponent("old-class")
    try Data(count: 10).write(to: url)
    expect("by default", try classes(url), [.completeUntilFirstUserAuthentication])
    try (url as NSURL).setResourceValue(URLFileProtection.complete, forKey: .fileProtectionKey)
    expect("set by NSURL", try classes(url), [.complete])
    try (url as NSURL).setResourceValues([
        .fileProtectionKey: FileProtectionType.completeUnlessOpen, .isExcludedFromBackupKey: true,
    ])
    expect("set with another value", try classes(url), [.completeUnlessOpen])
    expect("the other value", isExcludedFromBackup(url: url), true)
    try (url as NSURL).setResourceValue("NSFileProtectionNone", forKey: .fileProtectionKey)
    expect("set as a string", try classes(url), [URLFileProtection.none])
    try (url as NSURL).setResourceValue(nil, forKey: .fileProtectionKey)
    expect("set to nothing", try classes(url), [URLFileProtection.none])
    let missing = documents.appendingPathComponent("missing") as NSURL
    expect(
        "no such file", error { try missing.setResourceValue(URLFileProtection.complete, forKey: .fileProtectionKey) },
        "NSCocoaErrorDomain 4")
    expect(
        "no class", error { try (url as NSURL).setResourceValue("complete?", forKey: .fileProtectionKey) },
        "NSCocoaErrorDomain 512")
}

func expectCompleteIsOutOfReach(in documents: URL, _ home: URL) throws {
    let url = documents.appendingPathComponent("complete")
    try Data(count: 10).write(to: url, options: .completeFileProtection)
    let read = { error { _ = try Data(contentsOf: url) } }
    try whileLocked(home) { expect("complete, locked", read(), "NSCocoaErrorDomain 257") }
    expect("complete, unlocked", read(), "none")
}

/// Once access has expired, here at the lock, it is refused as for class complete, but the class that was set reads back.
func expectInactiveIsKept(in documents: URL, _ home: URL) throws {
    try Data("0".utf8).write(to: home.appendingPathComponent(".purgefs/device.inactivity"))
    let names = ["written", "replaced", "made", "changed", "old-way"]
    let urls = names.map { documents.appendingPathComponent("inactive-\($0)") }
    try Data(count: 10).write(to: urls[0], options: .completeFileProtectionWhenUserInactive)
    try Data(count: 10).write(to: urls[1], options: [.atomic, .completeFileProtectionWhenUserInactive])
    let attributes = [FileAttributeKey.protectionKey: FileProtectionType.completeWhenUserInactive]
    expect("made", FileManager.default.createFile(atPath: urls[2].path, contents: nil, attributes: attributes), true)
    for url in urls[3...] { try Data(count: 10).write(to: url) }
    try FileManager.default.setAttributes(attributes, ofItemAtPath: urls[3].path)
    try (urls[4] as NSURL).setResourceValue(URLFileProtection.completeWhenUserInactive, forKey: .fileProtectionKey)
    for url in urls {
        expect(url.lastPathComponent, try classes(url), [.completeWhenUserInactive])
        expect(url.lastPathComponent, try diagnoseFileProtection(url), .completeWhenUserInactive)
        try whileLocked(home) {
            expect(
                "\(url.lastPathComponent), locked", error { _ = try Data(contentsOf: url) }, "NSCocoaErrorDomain 257")
        }
        expect("\(url.lastPathComponent), unlocked", error { _ = try Data(contentsOf: url) }, "none")
    }
}

/// Saving through a link writes the file. An atomic save replaces the link, and the file keeps its class.
func expectLinksKeepTheirClass(in documents: URL) throws {
    let (file, link) = (documents.appendingPathComponent("kept"), documents.appendingPathComponent("to-kept"))
    try Data(count: 10).write(to: file, options: .completeFileProtection)
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "kept")
    try Data(count: 20).write(to: link)
    expect("saved through a link", try classes(file), [.complete])
    expect("its data", try Data(contentsOf: file).count, 20)
    try (link as NSURL).setResourceValue(URLFileProtection.completeUnlessOpen, forKey: .fileProtectionKey)
    expect("set through a link", try classes(file), [.completeUnlessOpen])
    try Data(count: 30).write(to: link, options: [.atomic, .completeFileProtection])
    expect("replaced link, and what it led to", try classes(link, file), [.complete, .completeUnlessOpen])
    expect("their data", [try Data(contentsOf: link).count, try Data(contentsOf: file).count], [30, 20])
}

/// While the device is locked, a folder can be created with any class, because it has no data; a file of class complete cannot
/// be created.
func expectFoldersWhileLocked(in documents: URL, _ home: URL) throws {
    let folder = documents.appendingPathComponent("locked/in")
    let attributes: [FileAttributeKey: Any] = [
        .protectionKey: FileProtectionType.completeUnlessOpen, .posixPermissions: 0o700,
    ]
    try whileLocked(home) {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: attributes)
        expect(
            "a folder", try classes(folder.deletingLastPathComponent(), folder),
            [.completeUnlessOpen, .completeUnlessOpen])
        try Data(count: 10).write(to: folder.appendingPathComponent("a"))
        expect(
            "a file of class complete",
            error {
                try Data(count: 10).write(to: folder.appendingPathComponent("b"), options: .completeFileProtection)
            },
            "NSCocoaErrorDomain 513")
    }
    expect("files", try FileManager.default.contentsOfDirectory(atPath: folder.path), ["a"])
    expect("inherited", try classes(folder.appendingPathComponent("a")), [.completeUnlessOpen])
    expect(
        "mode", try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? NSNumber, 0o700)
}
