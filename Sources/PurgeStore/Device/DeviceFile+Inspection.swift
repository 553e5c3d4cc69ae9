import PurgeModel
import PurgeSystem

extension DeviceFile {
    func inspect(repairing: Bool) throws(StoreError) -> StoreProblem? {
        guard let (damage, content) = try damage() else { return nil }
        let error = damage.error(path: place.pathOf(Self.name), store: place.path)
        var problem = StoreProblem(error, isRepairable: damage.isRepairable)
        if repairing && damage.isRepairable { problem.repair = try replace(content) }
        return problem
    }

    private func damage() throws(StoreError) -> (SettingsDamage, content: [UInt8])? {
        switch try content() {
        case .missing: return nil
        case .unreadable(let damage): return (damage, [])
        case .readable(let content):
            do throws(SettingsDamage) {
                _ = try SettingsDocument.settings(from: content)
                return nil
            } catch { return (error, content) }
        }
    }

    /// Keeps the file aside and writes the settings that `SettingsSalvage` recovers. Returns a sentence about the repair.
    private func replace(_ content: [UInt8]) throws(StoreError) -> String {
        let aside = try place.nameAside(for: Self.name)
        do throws(Errno) {
            try place.keep(Self.name, as: aside)
        } catch { throw .failed("the damaged settings cannot be kept aside", path: place.pathOf(aside), error) }
        let salvage = SettingsSalvage(content)
        try write(salvage.settings)
        return "The damaged file is now `\(aside)`. \(salvage.text)"
    }
}
