import PurgeCommandLine
import PurgeFUSE
import PurgeModel

/// Checks the words after `-o` before libfuse sees them, because libfuse would say only that an option is unknown.
enum MountOptionWords {
    private static let known = [
        "ro", "rw", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async", "dirsync", "atime", "noatime",
        "diratime", "nodiratime", "relatime", "norelatime", "strictatime", "nostrictatime", "lazytime", "nolazytime",
        "symfollow", "nosymfollow",
        "allow_other", "allow_root", "auto_unmount", "default_permissions", "debug", "context", "fscontext",
        "defcontext", "rootcontext",
    ]
    /// Options of fstab, which mount(8) takes for itself.
    private static let ofFstab: Set = [
        "user", "users", "owner", "group", "defaults", "auto", "noauto", "nofail", "_netdev", "nouser",
    ]
    private static let ofOwner: Set = ["uid", "gid", "umask", "fmask", "dmask", "mode"]
    /// Options of libfuse that would break the mount, or the ways by which purgefs finds it again.
    private static let fixed: Set = ["fsname", "subtype", "blkdev", "blksize", "max_read", "max_threads"]
    /// A suggestion must not give programs rights.
    private static let suggested = known.filter { !["suid", "dev", "exec"].contains($0) }
    private static let settings = OptionSpec.mounting.filter { $0.value != .none && !$0.isShort }

    /// Returns why a word is refused; nil if it is not.
    static func objection(to word: String) -> String? {
        let name = String(word.prefix { $0 != "=" })
        let value = word.dropFirst(name.count + 1)
        if name == "remount" { return "a container cannot be remounted; unmount it and mount it again" }
        if name == "transport" {
            return TransportChoice(rawValue: String(value)) == nil ? "transport must be auto, ring or dev" : nil
        }
        if known.contains(name) || name.isEmpty { return nil }
        if ofFstab.contains(name) || name.hasPrefix("x-") {
            return "'\(name)' is an option for fstab; leave it out here"
        }
        if ofOwner.contains(name) {
            return
                "there is no option '\(name)': owners and modes are kept with the files, as on ext4; mount as the user of the "
                + "app, or change the files with chown and chmod"
        }
        if fixed.contains(name) { return "the option '\(name)' cannot be set: purgefs chooses it" }
        let written = name.map { $0 == "_" || $0 == "." ? "-" : String($0) }.joined()
        let near = Suggestion.nearest(to: written, among: settings.map(\.name) + suggested)
        guard let near = near ?? Suggestion.nearest(to: name, among: suggested) else {
            return "'\(name)' is not an option of mount(8) here. "
                + "purgefs's own settings are given without -o, as in --total SIZE"
        }
        guard let setting = settings.first(where: { $0.name == near }) else {
            return "'\(name)' is not an option of mount(8) here; did you mean '\(near)'?"
        }
        let option = value.isEmpty ? setting.synopsis : "\(setting.text) \(value)"
        return "'\(name)' is not an option of mount(8): write \(option), or in fstab \(near)="
            + (value.isEmpty ? String(setting.synopsis.drop { $0 != " " }.dropFirst()) : String(value))
    }
}
