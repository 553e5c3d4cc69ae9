/// The ways of reaching a file's data that data protection distinguishes (docs/PROTECTION.md).
public enum DataAccess: String, CaseIterable, Sendable {
    /// Opening an existing file, or truncating it by its path.
    case open
    /// Creating a file.
    case create
    /// Reading, writing, truncating, allocating, copying or mapping an open file.
    case use
}

extension FileProtection {
    /// Returns whether a device in this state has the key that this access to data of this class needs.
    public func admits(_ access: DataAccess, in state: LockState) -> Bool {
        switch (self, state) {
        case (_, .unlocked), (_, .locking), (.none, _): true
        // A new file's key can be made in any lock state, and a program that has a file open already has the key.
        case (.completeUnlessOpen, _): access != .open
        case (.completeUntilFirstUserAuthentication, .locked), (.completeUntilFirstUserAuthentication, .inactive): true
        case (.completeWhenUserInactive, .locked): true
        case (.complete, _), (.completeWhenUserInactive, _), (_, .beforeFirstUnlock): false
        }
    }

    /// Whether locking the device takes the data even from programs that have the file open, at once or when access expires.
    public var isTakenByLock: Bool { !admits(.use, in: .inactive) }
}

extension FileProtection {
    /// The number of states in which the data is unreachable: for open files and, to break ties, for files that must first be
    /// opened.
    fileprivate var strictness: (Int, Int) {
        func refusals(_ access: DataAccess) -> Int { LockState.allCases.count { !admits(access, in: $0) } }
        return (refusals(.use), refusals(.open))
    }
}

extension LockState {
    /// Whether the data of some class is unreachable.
    public var restrictsData: Bool { self != .unlocked && self != .locking }
}

/// Decides which accesses data protection allows, from the device's state and the default class.
public struct ProtectionRule: Hashable, Sendable {
    public var state: LockState
    public var standard: FileProtection

    public init(state: LockState, standard: FileProtection) {
        self.state = state
        self.standard = standard
    }

    /// Returns the class in effect for an entry; `own` is the entry's own class, or nil.
    public func effective(_ own: FileProtection?) -> FileProtection { own ?? standard }

    /// Returns whether the data of a file may be reached now; `own` is the file's own class, or nil.
    public func admits(_ access: DataAccess, own: FileProtection?) -> Bool {
        effective(own).admits(access, in: state)
    }

    /// Returns the stricter of two entries' own classes, either of which may be absent. Access to open files counts first,
    /// because data that a program has read from an open file cannot be taken back.
    public func stricter(_ first: FileProtection?, _ second: FileProtection?) -> FileProtection? {
        effective(first).strictness < effective(second).strictness ? second : first
    }

    /// Returns whether an entry may change from class `own` to `new`; nil stands for no class. Moving a file into or out of a
    /// class that a lock takes needs the key of that class.
    public func admitsChange(from own: FileProtection?, to new: FileProtection?) -> Bool {
        new == own || [own, new].allSatisfy { !effective($0).isTakenByLock || admits(.use, own: $0) }
    }

    /// Returns the state that puts data of this class out of reach, as a refusal reports it.
    public func state(refusing kind: FileProtection) -> LockState {
        kind == .completeWhenUserInactive ? state : state.shown
    }
}

extension Device {
    public var protectionRule: ProtectionRule { ProtectionRule(state: state, standard: protection) }
}
