import Glibc
import PurgeSystem
import Support

@testable import PurgeVolume

// setattr of each kind, and extended attributes.
extension FaultyOperation {
    private static let kinds: [(name: String, apply: @Sendable (inout AttributeChange) -> Void)] = [
        ("chmod", { $0.mode = 0o600 }),
        ("chown", { $0.owner = geteuid() }),
        ("chown to nobody in particular", { _ in }),
        ("utimens", { $0.modificationTime = timespec(tv_sec: 5, tv_nsec: 6) }),
        (
            "chmod, chown and utimens",
            {
                $0.mode = 0o600
                $0.owner = geteuid()
                $0.modificationTime = timespec(tv_sec: 5, tv_nsec: 6)
            }
        ),
    ]

    /// Sets times after an advance of a day. Skipped, future and very early times need an attribute; other times do not.
    private static func setTimes(of path: String, hoursAgo hours: [Int64]) -> FaultyOperation {
        .init("utimens of \(path) after the clock was advanced, \(hours) hours ago") { stage in
            if path == "Documents/d" { try stage.live.makeDirectory(path) } else { try stage.file(blocks: 2) }
            if path == "Documents/l" { try stage.live.symlink(path) }
            try stage.live.advance(days: 1)
            let times = hours.map { LiveVolume.now.earlier(by: $0 * 3600) }
            return { for time in times { try stage.live.setTimes(path, access: time, modification: time) } }
        }
    }

    static let changes: [FaultyOperation] =
        kinds.map { kind in
            .init(kind.name) { stage in
                let handle = try stage.file(blocks: 2)
                return { try stage.live.change(handle.node, handle, kind.apply) }
            }
        }
        + [
            setTimes(of: "Documents/f", hoursAgo: [5]), setTimes(of: "Documents/f", hoursAgo: [5, 9, 50]),
            setTimes(of: "Documents/d", hoursAgo: [5]), setTimes(of: "Documents/l", hoursAgo: [5, 50]),
            setTimes(of: "Documents/f", hoursAgo: [-5, 2_000_000]),
        ]
        + kinds.map { kind in
            .init(kind.name + " of a folder") { stage in
                try stage.live.makeDirectory("Documents/d")
                return { try stage.live.change(stage.live.node("Documents/d"), nil, kind.apply) }
            }
        } + [
            .init("chmod of a file without a name") { stage in
                let handle = try stage.file(blocks: 2)
                try stage.live.unlink("Documents/f")
                return { try stage.live.change(handle.node, nil) { $0.mode = 0o600 } }
            },
            .init("chown of a set-group-ID file") { stage in
                let handle = try stage.file(blocks: 2)
                try Files.changeMode(stage.live.stored("Documents/f"), 0o2755)
                return { try stage.live.change(handle.node, nil) { $0.group = getegid() } }
            },
        ]

    private static func set(_ name: String, to value: String, of path: String) -> FaultyOperation {
        .init("set \(name) of \(path)") { stage in
            try stage.live.makeDirectory("Documents/d")
            try stage.live.make("Documents/d/f", blocks: 2)
            return { try stage.live.set(name, of: path, to: value) }
        }
    }
    private static func removal(of name: String, from path: String, _ value: String) -> FaultyOperation {
        .init("remove \(name) from \(path)") { stage in
            try stage.live.makeDirectory("Documents/d")
            try stage.live.make("Documents/d/f", blocks: 2)
            try stage.live.set(name, of: path, to: value)
            return { try stage.live.remove(name, from: path) }
        }
    }
    private static let values: [(name: String, value: String, path: String)] = [
        ("isPurgeable", "high", "Documents/d/f"), ("isPurgeable", "low", "Documents/d"),
        ("isExcludedFromBackup", "1", "Documents/d/f"), ("isExcludedFromBackup", "1", "Documents/d"),
        ("fileProtection", "complete", "Documents/d/f"), ("fileProtection", "complete", "Documents/d"),
        ("purgeAfter", "3d", "Documents/d"), ("sizeLimit", "1M", "Documents/d"),
        ("com.apple.metadata:com_apple_backup_excludeItem", "x", "Documents/d/f"),
        ("com.apple.MobileBackup", "1", "Documents/d/f"), ("user.x", "plain", "Documents/d/f"),
        ("com.example.x", "unprefixed", "Documents/d"),
    ]

    static let attributes: [FaultyOperation] =
        values.map { set($0.name, to: $0.value, of: $0.path) }
        + values.map { removal(of: $0.name, from: $0.path, $0.value) } + [
            .init("another class on a locked device") { stage in
                try stage.live.make("Documents/f", blocks: 1)
                try stage.live.enter(.locked)
                return { try stage.live.set("fileProtection", of: "Documents/f", to: "completeUnlessOpen") }
            },
            .init("a class for an open file, and a lock") { stage in
                let handle = try stage.file(blocks: 2)
                return {
                    try stage.live.set("fileProtection", of: "Documents/f", to: "complete")
                    try stage.live.enter(.locked)
                    if (try? stage.live.read(handle)) != nil { stage.note("a locked file was read") }
                }
            },
            .init("an attribute that is 0 set by Apple's name") { stage in
                try stage.live.make("Documents/f", blocks: 1)
                try stage.live.set("isExcludedFromBackup", of: "Documents/f", to: "0")
                return { try stage.live.set("com.apple.MobileBackup", of: "Documents/f", to: "1") }
            },
        ]
}
