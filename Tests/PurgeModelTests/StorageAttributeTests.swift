import PurgeModel
import Testing

@Suite struct StorageAttributeTests {
    @Test(
        arguments: [
            (.isPurgeable, "0", "0"), (.isPurgeable, "1", "low"), (.isPurgeable, "low", "low"),
            (.isPurgeable, "medium", "medium"), (.isPurgeable, "high", "high"),
            (.isExcludedFromBackup, "0", "0"), (.isExcludedFromBackup, "1", "1"),
            (.fileProtection, "complete", "NSFileProtectionComplete"),
            (.fileProtection, "NSFileProtectionComplete", "NSFileProtectionComplete"),
            (.fileProtection, "none", "NSFileProtectionNone"),
            (.purgeAfter, "0", "0"), (.purgeAfter, "3d", "3d"), (.purgeAfter, "72h", "3d"), (.purgeAfter, "90s", "90s"),
            (.purgeAfter, "14d", "2w"),
            (.purgeGroup, "0", "0"), (.purgeGroup, "1", "1"), (.purgeTombstone, "0", "0"), (.purgeTombstone, "1", "1"),
            (.sizeLimit, "0", "0"), (.sizeLimit, "64K", "65536"), (.sizeLimit, "64KB", "64000"), (.sizeLimit, "5", "5"),
        ] as [(StorageAttribute, String, String)])
    func canonicalForm(attribute: StorageAttribute, text: String, kept: String) {
        #expect(attribute.canonical(text) == kept)
    }

    /// All zero durations have a single canonical form.
    @Test(arguments: ["0s", "0m", "0h", "0d", "0w", "000s"])
    func noDurationIsZero(text: String) {
        #expect(StorageAttribute.purgeAfter.canonical(text) == "0")
    }

    @Test(
        arguments: [
            (.isPurgeable, ["", "2", "yes", "true", "Low", "LOW", "low ", "01", "none"]),
            (.isExcludedFromBackup, ["", "2", "true", "01", "low", " 1", "1\n"]),
            (
                .fileProtection,
                ["", "0", "Complete", "NSFileProtectioncomplete", "NSFileProtection", "NSFileProtectionBogus"]
            ),
            (.purgeGroup, ["", "2", "true", "low", "00", " 1"]),
            (.purgeTombstone, ["", "2", "true", "low", "01", "1\n"]),
            (.purgeAfter, ["", "1", "00", "3", "-3d", "3y", "d"]),
            (.sizeLimit, ["", "-1", "+1", "64k", "10%", "big", "1 K"]),
        ] as [(StorageAttribute, [String])])
    func badValues(attribute: StorageAttribute, texts: [String]) {
        for text in texts {
            #expect(attribute.canonical(text) == nil, "\(attribute) took \(text)")
        }
    }

    @Test(arguments: StorageAttribute.allCases)
    func canonicalFormsReadBackAsThemselves(attribute: StorageAttribute) {
        for text in ["0", "1", "low", "medium", "high", "complete", "none", "72h", "0s", "64K"] {
            guard let kept = attribute.canonical(text) else { continue }
            #expect(attribute.canonical(kept) == kept)
        }
    }

    @Test func namesAreThoseOfTheContract() {
        #expect(
            StorageAttribute.allCases.map(\.rawValue) == [
                "isPurgeable", "isExcludedFromBackup", "fileProtection", "purgeAfter", "sizeLimit", "purgeGroup",
                "purgeTombstone",
            ])
        #expect(
            ComputedAttribute.allCases.map(\.rawValue) == [
                "volumeTotalCapacity", "volumeAvailableCapacity", "volumeAvailableCapacityForImportantUsage",
                "volumeAvailableCapacityForOpportunisticUsage", "fileAllocatedSize", "totalFileAllocatedSize",
                "creationDate", "tier",
            ])
    }

    @Test func whatIsForDirectoriesAlone() {
        #expect(
            StorageAttribute.allCases.filter(\.isForDirectoriesOnly)
                == [.purgeAfter, .sizeLimit, .purgeGroup, .purgeTombstone])
        #expect(StorageAttribute.allCases.filter(\.isOfPolicy) == [.purgeAfter, .sizeLimit])
    }
}
