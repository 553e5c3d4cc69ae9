/// What a user does with the app.
public enum AppCommand: String, CaseIterable, Sendable {
    case launch, terminate, update, delete
}

/// Work on the files of a store that a command begins, and that the next mount finishes if the daemon ends meanwhile.
///
/// `device.json` is saved with a mark of the work before the first file is removed, and the device does not change before
/// the last one is gone. Then `Device.finish` clears the mark and makes the change in one step. A mark that cannot be
/// saved is taken back: the command fails with ECANCELED, and nothing has changed. A mount finishes interrupted work after
/// its scan, together with files that were put into the store meanwhile; with `-o ro` it leaves the work to a later one.
public enum DeviceWork: String, Codable, Sendable {
    /// `tmp` is emptied.
    case reboot
    /// `tmp` is emptied, and the container gets another UUID.
    case update
    /// The container is emptied, and gets another UUID.
    case delete

    /// For a message.
    public var text: String {
        switch self {
        case .reboot: "a reboot"
        case .update: "an update of the app"
        case .delete: "the deletion of the app"
        }
    }
}
