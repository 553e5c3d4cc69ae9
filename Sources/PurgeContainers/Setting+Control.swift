import PurgeCommandLine
import PurgeModel
import PurgeVolume

extension Setting {
    fileprivate init(_ file: ControlFile) { self.init(name: file.rawValue, words: file.words) }

    /// The names that `purgefs set` can set.
    package static let settable = ControlFile.settable.map { Setting($0) }
    /// The names for `purgefs run --at`: `settable`, and the control files for commands.
    package static let changes = settable + ControlFile.commands.map { Setting($0) }
}

extension ControlFile {
    /// The files to which a plan of `purgefs run` may write a command.
    package static let commands: [ControlFile] = [
        .deviceState, .deviceClock, .appState, .storagePolicies, .storageReclaim, .faults,
    ]

    /// The keywords that may be written to the file; empty if there are none. `storage.reclaim` accepts sizes and paths too.
    package var words: [String] {
        switch self {
        case .deviceState: ["lock", "unlock", "reboot"]
        case .appState: AppCommand.allCases.map(\.rawValue)
        case .storagePolicies: ["check", "reset"]
        case .storageReclaim: ["tmp", "caches", "purgeable", "all"]
        case .storageProfile: Profile.allCases.map(\.rawValue)
        default: []
        }
    }
}
