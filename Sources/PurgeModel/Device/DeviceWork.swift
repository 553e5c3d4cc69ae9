/// Work on the files of a store that a command begins, and that the next mount finishes if the daemon ends meanwhile.
///
/// `device.json` is saved with a mark of the work before the first file is removed. The device does not change until the
/// removal has ended. Then `Device.finish` clears the mark and makes the change in one step. If the mark cannot be saved, the
/// device drops it, the command fails with ECANCELED, and nothing has changed. A mount finishes interrupted work after its
/// scan. It also removes files put into the store meanwhile, unless the removal had ended. A mount with `-o ro` leaves the work
/// to a later mount.
public enum DeviceWork: String, Codable, Sendable {
    /// Empties `tmp`.
    case reboot
    /// Empties `tmp`, and gives the container another UUID.
    case update
    /// Empties the container, resets its attributes, and gives it another UUID.
    case delete

    /// The work in words, for a message.
    public var text: String {
        switch self {
        case .reboot: "a reboot"
        case .update: "an update of the app"
        case .delete: "the deletion of the app"
        }
    }
}
