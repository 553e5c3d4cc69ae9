import PurgeModel
import Testing

/// The documented matrix of data protection (docs/PROTECTION.md), value by value.
@Suite struct DataAccessTests {
    /// The accesses that a row of the matrix admits: opening, creating, and using an open file.
    struct Admitted: Equatable {
        let open, create, use: Bool
        static let all = Admitted(open: true, create: true, use: true)
        static let nothing = Admitted(open: false, create: false, use: false)
        static let allButOpening = Admitted(open: false, create: true, use: true)

        init(open: Bool, create: Bool, use: Bool) { (self.open, self.create, self.use) = (open, create, use) }
        init(_ protection: FileProtection, _ state: LockState) {
            open = protection.admits(.open, in: state)
            create = protection.admits(.create, in: state)
            use = protection.admits(.use, in: state)
        }
    }

    static let matrix: [(FileProtection, LockState, Admitted)] = [
        (.complete, .beforeFirstUnlock, .nothing),
        (.complete, .unlocked, .all),
        (.complete, .locking, .all),
        (.complete, .locked, .nothing),
        (.complete, .inactive, .nothing),
        (.completeUnlessOpen, .beforeFirstUnlock, .allButOpening),
        (.completeUnlessOpen, .unlocked, .all),
        (.completeUnlessOpen, .locking, .all),
        (.completeUnlessOpen, .locked, .allButOpening),
        (.completeUnlessOpen, .inactive, .allButOpening),
        (.completeUntilFirstUserAuthentication, .beforeFirstUnlock, .nothing),
        (.completeUntilFirstUserAuthentication, .unlocked, .all),
        (.completeUntilFirstUserAuthentication, .locking, .all),
        (.completeUntilFirstUserAuthentication, .locked, .all),
        (.completeUntilFirstUserAuthentication, .inactive, .all),
        (.completeWhenUserInactive, .beforeFirstUnlock, .nothing),
        (.completeWhenUserInactive, .unlocked, .all),
        (.completeWhenUserInactive, .locking, .all),
        (.completeWhenUserInactive, .locked, .all),
        (.completeWhenUserInactive, .inactive, .nothing),
        (.none, .beforeFirstUnlock, .all),
        (.none, .unlocked, .all),
        (.none, .locking, .all),
        (.none, .locked, .all),
        (.none, .inactive, .all),
    ]
    @Test(arguments: matrix) func admits(protection: FileProtection, state: LockState, expected: Admitted) {
        #expect(Admitted(protection, state) == expected)
    }

    @Test func theMatrixIsWhole() {
        #expect(Set(Self.matrix.map { "\($0.0) \($0.1)" }).count == 25)
        #expect(FileProtection.allCases.count == 5 && LockState.allCases.count == 5 && DataAccess.allCases.count == 3)
    }

    /// A check is needed only while some class is out of reach.
    @Test func statesInWhichNothingIsRefused() {
        #expect(LockState.allCases.filter(\.restrictsData) == [.locked, .inactive, .beforeFirstUnlock])
    }

    @Test func whatALockTakes() {
        #expect(FileProtection.allCases.filter(\.isTakenByLock) == [.complete, .completeWhenUserInactive])
    }

    /// Users see a device whose access has expired as locked.
    @Test func statesThatAreShown() {
        #expect(LockState.allCases.map(\.shown) == [.unlocked, .locking, .locked, .locked, .beforeFirstUnlock])
    }

    /// A refusal names the state that the class depends on.
    @Test func statesThatRefusalsReport() {
        let inactive = device(.inactive, default: .none)
        #expect(inactive.state(refusing: .complete) == .locked)
        #expect(inactive.state(refusing: .completeUnlessOpen) == .locked)
        #expect(inactive.state(refusing: .completeWhenUserInactive) == .inactive)
        let booted = device(.beforeFirstUnlock, default: .none)
        #expect(FileProtection.allCases.allSatisfy { booted.state(refusing: $0) == .beforeFirstUnlock })
    }

    /// While a class changes, the stricter of both applies.
    @Test func stricterClasses() {
        let rule = device(.unlocked, default: .none)
        let order: [FileProtection] = [
            .complete, .completeWhenUserInactive, .completeUntilFirstUserAuthentication, .completeUnlessOpen, .none,
        ]
        for (index, first) in order.enumerated() {
            for second in order[index...] {
                #expect(rule.stricter(first, second) == first && rule.stricter(second, first) == first)
            }
        }
    }

    private func device(_ state: LockState, default protection: FileProtection) -> ProtectionRule {
        var device = Device(containerID: "")
        (device.lock.state, device.protection) = (state, protection)
        return device.protectionRule
    }

    @Test func withoutAClassOfItsOwnTheDevicesApplies() {
        let locked = device(.locked, default: .complete)
        #expect(!locked.admits(.use, own: nil))
        #expect(locked.admits(.use, own: FileProtection.none))
        #expect(!device(.locked, default: .none).admits(.open, own: .complete))
        #expect(device(.locked, default: .none).admits(.open, own: nil))
        #expect(!device(.beforeFirstUnlock, default: .completeUntilFirstUserAuthentication).admits(.open, own: nil))
    }

    struct Change {
        let own: FileProtection?
        let new: FileProtection?
        let isAdmitted: Bool
    }
    /// The changes assume `none` as the default class.
    static let changes: [Change] = [
        Change(own: nil, new: .complete, isAdmitted: false),
        Change(own: .complete, new: nil, isAdmitted: false),
        Change(own: .complete, new: FileProtection.none, isAdmitted: false),
        Change(own: .completeUnlessOpen, new: .complete, isAdmitted: false),
        Change(own: .complete, new: .complete, isAdmitted: true),
        Change(own: .complete, new: .completeWhenUserInactive, isAdmitted: false),
        Change(own: .completeWhenUserInactive, new: .complete, isAdmitted: false),
        Change(own: FileProtection.none, new: .completeUnlessOpen, isAdmitted: true),
        Change(own: .completeUnlessOpen, new: nil, isAdmitted: true),
    ]
    @Test(arguments: changes) func changesOfTheClassWhileLocked(change: Change) {
        for state in [LockState.locked, .inactive, .beforeFirstUnlock] {
            let device = device(state, default: .none)
            #expect(device.admitsChange(from: change.own, to: change.new) == change.isAdmitted)
        }
        for state in [LockState.unlocked, .locking] {
            #expect(device(state, default: .none).admitsChange(from: change.own, to: change.new))
        }
    }

    /// A change from or to `completeWhenUserInactive` needs that class's key, which is there until access expires.
    @Test(arguments: LockState.allCases) func changesOfTheClassUntilAccessExpires(state: LockState) {
        let isAdmitted = [LockState.unlocked, .locking, .locked].contains(state)
        let rule = device(state, default: .none)
        for other in [nil, FileProtection.none, .completeUnlessOpen, .completeUntilFirstUserAuthentication] {
            #expect(rule.admitsChange(from: other, to: .completeWhenUserInactive) == isAdmitted)
            #expect(rule.admitsChange(from: .completeWhenUserInactive, to: other) == isAdmitted)
        }
        #expect(rule.admitsChange(from: .completeWhenUserInactive, to: .completeWhenUserInactive))
        #expect(
            device(state, default: .completeWhenUserInactive).admitsChange(from: nil, to: FileProtection.none)
                == isAdmitted)
    }

    /// While the device is locked, no change to or from a default class `complete` is admitted.
    @Test func theDefaultCounts() {
        let locked = device(.locked, default: .complete)
        #expect(!locked.admitsChange(from: nil, to: FileProtection.none))
        #expect(!locked.admitsChange(from: nil, to: .complete))
        #expect(!locked.admitsChange(from: FileProtection.none, to: nil))
        #expect(locked.admitsChange(from: nil, to: nil))
    }
}
