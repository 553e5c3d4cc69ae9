import PurgeModel
import PurgeSystem

extension DeviceFile {
    func inspect(repairing: Bool) throws(StoreError) -> StoreProblem? {
        guard case .damaged(let damage, let content) = try state() else { return nil }
        let error = damage.error(path: place.pathOf(Self.name), store: place.path)
        var problem = StoreProblem(error, isRepairable: damage.isRepairable)
        if repairing && damage.isRepairable { problem.repair = try repair(content) }
        return problem
    }

    /// Returns a sentence about what was done.
    private func repair(_ content: [UInt8]) throws(StoreError) -> String {
        let salvaged: (settings: Device, lost: [SettingsDamage])
        do {
            salvaged = try SettingsDocument.salvage(from: content)
        } catch { throw error.error(path: place.pathOf(Self.name), store: place.path) }
        let aside = try place.nameAside(for: Self.name)
        do throws(Errno) {
            try place.keep(Self.name, as: aside)
        } catch { throw .failed("the damaged settings cannot be kept aside", path: place.pathOf(aside), error) }
        try write(salvaged.settings)
        let lost = salvaged.lost.map { damage in
            if case .value(let name, _) = damage { SettingsDamage.visible(name) } else { "all of them" }
        }
        return "The damaged file is now `\(aside)`. Settings that were lost and have their defaults: "
            + lost.joined(separator: ", ") + "."
    }
}
