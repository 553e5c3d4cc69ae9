import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeStore

/// Root makes a store in an ordinary user's folder, and before each call the user exchanges the store or a folder in it.
@Suite(.enabled(if: geteuid() == 0, "only root makes things for others"))
struct ExchangedStoreTests {
    private static let user: uid_t = 65534

    private static func makeStore(_ path: String) throws {
        let store = try Store.open(path, creating: true)
        try store.saveSettings(try store.loadSettings())
        let journal = try Journal.open(in: store)
        try journal.append([Event(type: .device)])
        journal.close()
        _ = try store.sidecars(making: true)
    }

    /// Exchanges a directory before each call. With `isThere`, the store is the user's empty directory, and root makes
    /// `exchanged` in it.
    private func exchange(_ exchanged: String, hasFile: Bool, isThere: Bool) throws {
        try Scratch.with("exchanged") { scratch in
            func place(_ name: String) throws -> String {
                let place = "\(scratch.path)/\(name)"
                try Files.makeDirectory(place)
                if isThere { try Files.makeDirectory("\(place)/store") }
                for folder in [place] + (isThere ? ["\(place)/store"] : []) {
                    try #require(chown(folder, Self.user, Self.user) == 0)
                }
                return place
            }
            let alone = try place("alone")
            let calls = SystemCallFaults.none.during { try Self.makeStore("\(alone)/store") }.calls
            try #require(calls.contains(.mkdirat))
            for (index, name) in calls.enumerated() {
                let place = try place("\(index)")
                let decoy = try ExchangedDirectory("\(place)/decoy", hasFile: hasFile)
                let outcome = SystemCallFaults.running(
                    { decoy.exchange(with: "\(place)/\(exchanged)") }, before: name,
                    after: calls[..<index].count { $0 == name }
                ) { try Self.makeStore("\(place)/store") }
                let harm = try decoy.harm(below: place, isFilled: isThere)
                #expect(outcome.hits == 1 && harm == nil, "before \(name), call \(index): \(harm ?? "")")
                // The journal must be in the same directory as the rest of the store.
                for folder in ["store", "decoy"] where !hasFile && Files.exists("\(place)/\(folder)/journal.sqlite") {
                    #expect(Files.exists("\(place)/\(folder)/device.json"), "before \(name), call \(index)")
                }
            }
        }
    }

    @Test(arguments: [true, false]) func theStore(hasFile: Bool) throws {
        try exchange("store", hasFile: hasFile, isThere: false)
    }

    /// When the owner exchanges a folder in the store, the owner receives nothing of root's.
    @Test(arguments: ["store/container", "store/container/Library", "store/extents"])
    func aFolder(_ name: String) throws {
        try exchange(name, hasFile: false, isThere: true)
    }

    /// Everything that root makes in a user's store belongs to the user.
    @Test func owners() throws {
        try Scratch.with("exchanged") { scratch in
            let store = "\(scratch.path)/store"
            try Files.makeDirectory(store)
            try #require(chown(store, Self.user, Self.user) == 0)
            try Self.makeStore(store)
            for name in try Files.tree(store) {
                let owner = try Files.status("\(store)/\(name)").st_uid
                #expect(owner == Self.user, "\(name)")
            }
        }
    }
}
