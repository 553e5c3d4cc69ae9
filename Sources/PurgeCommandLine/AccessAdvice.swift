import Glibc
import PurgeSystem

/// Advice after a denied permission: which directory denies access, and to whom it belongs.
package enum AccessAdvice {
    package static let rootToo =
        "Not even root may do this: check the mount options of that file system, and the attributes of the file "
        + "(lsattr)."

    package static func name(_ user: uid_t) -> String { user == 0 ? "root" : "user \(user)" }

    package static func text(_ path: String) -> String {
        let (place, next) = obstacle(on: path)
        if let mount = next.flatMap(mountOfAnother) {
            return "It is in a FUSE mount of \(name(mount.owner ?? 0)), which no other user may enter, not even root: "
                + "run this as that user, or name another place."
        }
        if geteuid() == 0 { return rootToo }
        do throws(Errno) {
            let status = try System.status(ofPath: place)
            let mode = String(status.st_mode & 0o7777, radix: 8)
            return status.st_uid == geteuid()
                ? "\(place) belongs to you, and its mode (\(mode)) keeps you out: chmod u+rwX \(ShellWord.of(place))"
                : "\(place) belongs to \(name(status.st_uid)), with mode \(mode): run this as "
                    + (status.st_uid == 0 ? "root." : "that user, or as root.")
        } catch { return "Run this as the user who owns it, or as root." }
    }

    /// Returns the first directory on the path that this user may not search, and the path that could not be reached from that
    /// directory. Returns the path itself if all directories may be searched.
    private static func obstacle(on path: String) -> (place: String, next: String?) {
        var place = path.utf8.first == UInt8(ascii: "/") ? "/" : "."
        for name in path.pathNames {
            let next = place == "/" ? "/" + name : place + "/" + name
            do throws(Errno) {
                _ = try System.status(ofPath: next)
            } catch { return (place, next) }
            place = next
        }
        return (path, nil)
    }

    private static func mountOfAnother(_ path: String) -> MountEntry? {
        guard let resolved = Places.resolvedOrParent(path) else { return nil }
        let mount = MountEntry.all().last { $0.mountpoint.isPath(resolved) }
        return mount.flatMap { $0.type.hasPrefix("fuse") && $0.owner != geteuid() ? $0 : nil }
    }
}
