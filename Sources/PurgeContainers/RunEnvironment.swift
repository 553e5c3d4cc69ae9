import Glibc
import PurgeCommandLine
import PurgeSystem

/// The environment of COMMAND and of the hooks of `purgefs clean`: the environment of this process with these variables set.
package enum RunEnvironment {
    /// The variable with the path of the container.
    package static let mount = "PURGEFS_MOUNT"
    /// The variable with COMMAND's exit status, for the command of `--check`.
    package static let commandStatus = "PURGEFS_COMMAND_STATUS"
    /// Names of variables, and places relative to the container.
    private static let places: [(name: String, place: String)] = [
        ("HOME", ""), ("CFFIXED_USER_HOME", ""), ("TMPDIR", "tmp"), ("XDG_CACHE_HOME", "Library/Caches"),
        ("XDG_DATA_HOME", "Library/Application Support"), ("XDG_CONFIG_HOME", "Library/Preferences"),
        (mount, ""),
    ]

    package static let help: [HelpSection.Line] =
        places.map {
            .init($0.name, $0.place.isEmpty ? "the container" : "\($0.place) in the container")
        } + [.init(commandStatus, "for --check: the exit status of COMMAND")]

    /// - Parameter status: that of COMMAND, if it has ended.
    package static func make(mountpoint: String, after status: Int32? = nil) -> [RawText] {
        let added =
            places.map { ($0.name, $0.place.isEmpty ? mountpoint : "\(mountpoint)/\($0.place)") }
            + (status.map { [(commandStatus, "\($0)")] } ?? [])
        let kept = System.environment().filter { entry in
            // A check may run `purgefs run`, too.
            !(added.map(\.0) + [commandStatus]).contains { name in strncmp(entry, name + "=", name.utf8.count + 1) == 0
            }
        }
        return kept + added.map { Array("\($0.0)=\($0.1)".utf8CString) }
    }
}
