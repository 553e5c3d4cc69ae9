import PurgeModel
import Testing

@Suite struct FileProtectionTests {
    static let names: [(FileProtection, String, String)] = [
        (.complete, "complete", "NSFileProtectionComplete"),
        (.completeUnlessOpen, "completeUnlessOpen", "NSFileProtectionCompleteUnlessOpen"),
        (
            .completeUntilFirstUserAuthentication, "completeUntilFirstUserAuthentication",
            "NSFileProtectionCompleteUntilFirstUserAuthentication"
        ),
        (
            .completeWhenUserInactive, "completeWhenUserInactive",
            "NSFileProtectionCompleteWhenUserInactive"
        ),
        (.none, "none", "NSFileProtectionNone"),
    ]

    @Test(arguments: names) func readsBothNames(protection: FileProtection, short: String, apple: String) {
        #expect(FileProtection(text: short) == protection)
        #expect(FileProtection(text: apple) == protection)
    }

    @Test(arguments: names) func readsBackAsApplesName(protection: FileProtection, short: String, apple: String) {
        #expect(protection.appleName == apple)
    }

    @Test(arguments: ["", "Complete", "COMPLETE", "complete ", "NSFileProtection", "NSFileProtectioncomplete", "all"])
    func refusesTheRest(text: String) {
        #expect(FileProtection(text: text) == nil)
    }

    @Test func thereAreFive() {
        #expect(FileProtection.allCases.count == Self.names.count)
    }
}
