/// What a user does with the app.
public enum AppCommand: String, CaseIterable, Sendable {
    case launch, terminate, update, delete
}

/// Work on the files of a store that a command begins, and that the next mount finishes if the daemon ends meanwhile.
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
