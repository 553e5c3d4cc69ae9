/// What a call does with the data of a file, as data protection distinguishes it (docs/PROTECTION.md).
public enum DataAccess: String, CaseIterable, Sendable {
    /// An existing file is opened, or truncated by its path.
    case open
    /// A file is made.
    case create
    /// A file that is open is read, written, truncated, allocated, copied or mapped.
    case use
}

extension FileProtection {
    /// Whether a device in this state has what it takes to decrypt, or encrypt, the data of a file of this class.
    public func admits(_ access: DataAccess, in state: LockState) -> Bool {
        switch (self, state) {
        case (_, .unlocked), (_, .locking), (.none, _): true
        // A new file gets a key that needs no other, and whoever has a file open has its key.
        case (.completeUnlessOpen, _): access != .open
        case (.completeUntilFirstUserAuthentication, .locked): true
        case (.complete, _), (.completeWhenUserInactive, _), (_, .beforeFirstUnlock): false
        }
    }

    /// Whether locking the device takes the data even from those who have the file open.
    public var isTakenByLock: Bool { !admits(.use, in: .locked) }
}

extension FileProtection {
    /// In how many states data is out of reach: of a file that is open, and, among classes that are equal in that, of
    /// one that is not.
    fileprivate var strictness: (Int, Int) {
        func refusals(_ access: DataAccess) -> Int { LockState.allCases.count { !admits(access, in: $0) } }
        return (refusals(.use), refusals(.open))
    }
}

extension LockState {
    /// Whether the data of some class is out of reach.
    public var restrictsData: Bool { self == .locked || self == .beforeFirstUnlock }
}

/// What data protection admits on a device: its state, and the class of whatever has none of its own.
public struct ProtectionRule: Hashable, Sendable {
    public var state: LockState
    public var standard: FileProtection

    public init(state: LockState, standard: FileProtection) {
        self.state = state
        self.standard = standard
    }

    /// The class that applies to an entry that has this one of its own, or none.
    public func effective(_ own: FileProtection?) -> FileProtection { own ?? standard }

    /// Whether the data of a file that has this class of its own, or none, may be reached now.
    public func admits(_ access: DataAccess, own: FileProtection?) -> Bool {
        effective(own).admits(access, in: state)
    }

    /// Of two classes that an entry has of its own, or of none, the one that puts more out of reach. What is
    /// open comes first, because what a program has got of that cannot be taken back.
    public func stricter(_ first: FileProtection?, _ second: FileProtection?) -> FileProtection? {
        effective(first).strictness < effective(second).strictness ? second : first
    }

    /// Whether an entry that has this class of its own, or none, may get that one, or none. The key of `complete` is
    /// needed both for taking a file out of it and for putting one into it.
    public func admitsChange(from own: FileProtection?, to new: FileProtection?) -> Bool {
        guard state.restrictsData, new != own else { return true }
        return effective(own) != .complete && effective(new) != .complete
    }
}

extension Device {
    public var protectionRule: ProtectionRule { ProtectionRule(state: state, standard: protection) }
}
