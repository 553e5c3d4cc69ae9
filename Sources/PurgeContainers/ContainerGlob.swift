import PurgeCommandLine
import PurgeSystem

/// Patterns that a user writes for paths of a container.
package enum ContainerGlob {
    /// Returns false for a pattern that matches no path of a container, because its parts are not those of a path or because it
    /// begins like a shell's `~/` or `$HOME/`.
    package static func canMatch(_ glob: some StringProtocol) -> Bool {
        !glob.isEmpty && !glob.hasSuffix("/") && !glob.contains("//")
            && !["./", "../", "~/", "$HOME/", "${"].contains(where: glob.hasPrefix)
            && !["/./", "/../"].contains(where: glob.contains) && !["/.", "/.."].contains(where: glob.hasSuffix)
            && glob != "." && glob != ".."
    }

    /// Returns the pattern relative to the container, or to a part of it. Returns nil if the pattern begins with a slash and
    /// does not lead below one of the `roots`, directly or through symbolic links.
    package static func relative(_ glob: String, roots: [String]) -> String? {
        guard glob.utf8.first == UInt8(ascii: "/") else { return glob }
        for root in roots where glob.isPath(below: root) {
            return String(Substring(glob.utf8.dropFirst(root.utf8.count + 1)))
        }
        // Only the folders before the first component with special characters can be resolved.
        let plain = glob.utf8.prefix { !Glob.isSpecial($0) }
        guard let end = plain.lastIndex(of: UInt8(ascii: "/")),
            let folder = Places.resolved(end == plain.startIndex ? "/" : String(Substring(plain[..<end])))
        else { return nil }
        let rest = String(Substring(glob.utf8[glob.utf8.index(after: end)...]))
        for root in roots {
            if folder.isPath(root) { return rest }
            if folder.isPath(below: root) {
                return Glob.literal(String(Substring(folder.utf8.dropFirst(root.utf8.count + 1)))) + "/" + rest
            }
        }
        return nil
    }

    /// Returns the directories under which the container of `control` can be seen.
    package static func roots(_ control: any ControlEndpoint) throws(CommandFailure) -> [String] {
        let stored = try control.status().store + "/container"
        return control.isMounted ? [control.place, stored] : [stored]
    }
}
