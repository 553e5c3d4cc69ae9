import PurgeModel
import Support
import Testing

@testable import PurgeStore

struct AttributeNameTests {
    @Test func applesPropertyListIsItsOwn61Bytes() {
        #expect(ApplesList.bytes.count == 61)
        #expect(AttributeName.propertyList == ApplesList.bytes)
    }

    @Test func applesNamesAreTheFlag() {
        guard
            case .storage(.isExcludedFromBackup, let list?) = AttributeName(
                "com.apple.metadata:com_apple_backup_excludeItem")
        else {
            Issue.record("not the flag")
            return
        }
        #expect(list == ApplesList.bytes)
        guard case .storage(.isExcludedFromBackup, let byte?) = AttributeName("com.apple.MobileBackup") else {
            Issue.record("not the flag")
            return
        }
        #expect(byte == [1])
    }

    @Test(arguments: ["isPurgeable", "isExcludedFromBackup", "fileProtection", "purgeAfter", "sizeLimit"])
    func ownNamesAreOurs(name: String) {
        guard case .storage(let attribute, nil) = AttributeName("user.purgefs.\(name)") else {
            Issue.record("\(name) is not ours")
            return
        }
        #expect(attribute.rawValue == name)
        #expect(attribute.storeKey == "user.purgefs.\(name)")
    }

    @Test(arguments: [
        "volumeTotalCapacity", "volumeAvailableCapacity", "volumeAvailableCapacityForImportantUsage",
        "volumeAvailableCapacityForOpportunisticUsage", "fileAllocatedSize", "totalFileAllocatedSize", "creationDate",
        "tier",
    ])
    func computedOnesAreKnown(name: String) {
        guard case .computed(let attribute) = AttributeName("user.purgefs.\(name)") else {
            Issue.record("\(name) is not computed")
            return
        }
        #expect(attribute.rawValue == name)
    }

    @Test(arguments: ["", "x", "extents", "raw.com.apple.x", "ispurgeable"]) func othersOfOursAreUnknown(name: String) {
        guard case .unknown = AttributeName("user.purgefs.\(name)") else {
            Issue.record("user.purgefs.\(name) is known")
            return
        }
    }

    @Test(arguments: ["trusted.purgefs.", "trusted.purgefs.times"]) func thoseOfLinksToo(name: String) {
        guard case .unknown = AttributeName(name) else {
            Issue.record("\(name) is known")
            return
        }
        #expect(AttributeName.visible(AttributeKey(name), byRoot: true) == nil)
    }

    static let plain: [(String, String)] = [
        ("user.comment", "user.comment"), ("user.com.apple.x", "user.com.apple.x"), ("trusted.t", "trusted.t"),
        ("security.capability", "security.capability"), ("system.posix_acl_access", "system.posix_acl_access"),
        ("com.apple.x", "user.purgefs.raw.com.apple.x"), ("user", "user.purgefs.raw.user"),
        ("com.apple.MobileBackup2", "user.purgefs.raw.com.apple.MobileBackup2"),
        ("purgefs.isPurgeable", "user.purgefs.raw.purgefs.isPurgeable"),
    ]
    @Test(arguments: plain) func theRestIsKept(name: String, key: String) {
        guard case .plain(let found) = AttributeName(name) else {
            Issue.record("\(name) is not plain")
            return
        }
        #expect(found.text == key)
        #expect(AttributeName.visible(AttributeKey(key), byRoot: true)?.text == name)
    }

    @Test func whatIsOursAloneIsNeverListed() {
        #expect(AttributeName.visible(AttributeKey("user.purgefs.extents"), byRoot: true) == nil)
        #expect(AttributeName.visible(AttributeKey("user.purgefs.tier"), byRoot: true) == nil)
        #expect(
            AttributeName.visible(AttributeKey("user.purgefs.isPurgeable"), byRoot: false)?.text
                == "user.purgefs.isPurgeable")
        #expect(AttributeName.visible(AttributeKey("trusted.t"), byRoot: false) == nil)
    }
}
