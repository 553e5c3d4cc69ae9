import PurgeCommandLine
import PurgeModel

/// Checks the words after `-o` before libfuse sees them, because libfuse would say only that an option is unknown.
enum MountOptionWords {
    private static let known = [
        "ro", "rw", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async", "dirsync", "atime", "noatime",
        "diratime", "nodiratime", "relatime", "norelatime", "strictatime", "nostrictatime", "lazytime", "nolazytime",
        "allow_other", "allow_root", "auto_unmount", "default_permissions", "fsname", "subtype", "blkdev", "blksize",
        "max_read", "context", "fscontext", "defcontext", "rootcontext",
    ]
    /// Options of other file systems and of fstab, for which no similar option is suggested.
    private static let foreign: Set = [
        "uid", "gid", "umask", "user", "users", "owner", "group", "defaults", "auto", "noauto", "nofail", "_netdev",
        "max_threads",
    ]
    /// A suggestion must not give programs rights.
    private static let suggested = known.filter { !["suid", "dev", "exec"].contains($0) }
    private static let settings = OptionSpec.mounting.filter { $0.value != .none && !$0.isShort }

    /// Returns why a word is refused; nil leaves the decision to libfuse.
    static func objection(to word: String) -> String? {
        let name = String(word.prefix { $0 != "=" })
        let value = word.dropFirst(name.count + 1)
        if name == "remount" { return "a container cannot be remounted; unmount it and mount it again" }
        if known.contains(name) || foreign.contains(name) || name.isEmpty || name.hasPrefix("x-") { return nil }
        let written = name.map { $0 == "_" || $0 == "." ? "-" : String($0) }.joined()
        let near = Suggestion.nearest(to: written, among: settings.map(\.name) + suggested)
        guard let near = near ?? Suggestion.nearest(to: name, among: suggested) else { return nil }
        guard let setting = settings.first(where: { $0.name == near }) else {
            return "'\(name)' is not an option of mount(8) here; did you mean '\(near)'?"
        }
        let option = value.isEmpty ? setting.synopsis : "\(setting.text) \(value)"
        return "'\(name)' is not an option of mount(8): write \(option), or in fstab \(near)="
            + (value.isEmpty ? String(setting.synopsis.drop { $0 != " " }.dropFirst()) : String(value))
    }
}
