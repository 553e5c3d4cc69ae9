import PurgeModel
import PurgeSystem

extension StoreDirectory {
    func inspectSettings(repairing: Bool) throws(StoreError) -> StoreProblem? {
        guard case .damaged(let damage, let content) = try settingsState() else { return nil }
        let error = damage.error(path: pathOf(Self.settingsName), store: path)
        var problem = StoreProblem(error, isRepairable: damage.isRepairable)
        if repairing && damage.isRepairable { problem.repair = try repairSettings(content) }
        return problem
    }

    /// Returns a sentence about what was done.
    private func repairSettings(_ content: [UInt8]) throws(StoreError) -> String {
        let salvaged: (settings: Device, lost: [SettingsDamage])
        do {
            salvaged = try SettingsDocument.salvage(from: content)
        } catch { throw error.error(path: pathOf(Self.settingsName), store: path) }
        let aside = try nameAside(for: Self.settingsName)
        do throws(Errno) {
            try keep(Self.settingsName, as: aside)
        } catch { throw .failed("the damaged settings cannot be kept aside", path: pathOf(aside), error) }
        try writeSettings(salvaged.settings)
        let lost = salvaged.lost.map { damage in
            if case .value(let name, _) = damage { SettingsDamage.visible(name) } else { "all of them" }
        }
        return "The damaged file is now `\(aside)`. Settings that were lost and have their defaults: "
            + lost.joined(separator: ", ") + "."
    }
}
