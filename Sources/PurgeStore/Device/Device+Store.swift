import FoundationEssentials
import PurgeModel

extension Device {
    /// Returns a device that was never used, with the default settings and a new container identifier.
    public static func fresh() -> Device { Device(containerID: freshID()) }

    /// Returns a random UUID for a new app container.
    public static func freshID() -> String { UUID().uuidString }

    /// Applies the settings of the command line. If it throws, nothing has changed.
    public mutating func apply(_ change: SettingsChange) throws(StoreError) {
        do throws(SettingsChange.Refusal) { try take(change) } catch { throw StoreError(error) }
    }
}

extension StoreError {
    fileprivate init(_ refusal: SettingsChange.Refusal) {
        switch refusal {
        case .outOfRange(let size, let given):
            self.init(
                "\(given.bytes) is not a size that a device can have", path: size.option,
                advice: "Give a size from 0 to 1 EiB, as 64G or 64GB.")
        case .moreThanOthers(let asked, let others):
            self.init(
                "\(asked.bytes) is more than the \(others.bytes) bytes of others, which it is a part of",
                path: SettingsChange.Size.othersPurgeable.option, advice: "Give a smaller size, or more with --others.")
        }
    }
}

extension SettingsChange.Size {
    fileprivate var option: String {
        switch self {
        case .total: "--total"
        case .others: "--others"
        case .othersPurgeable: "--others-purgeable"
        }
    }
}
