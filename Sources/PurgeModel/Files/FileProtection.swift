/// A data protection class (docs/XATTRS.md).
public enum FileProtection: String, CaseIterable, Codable, Sendable {
    case complete, completeUnlessOpen, completeUntilFirstUserAuthentication, completeWhenUserInactive, none

    /// Parses the short name or Apple's `NSFileProtection...` string (docs/XATTRS.md).
    public init?(text: some StringProtocol) {
        if let short = FileProtection(rawValue: String(text)) {
            self = short
            return
        }
        guard let match = Self.allCases.first(where: { $0.appleName == text }) else { return nil }
        self = match
    }

    /// The raw value of URLFileProtection.
    public var appleName: String {
        switch self {
        case .complete: "NSFileProtectionComplete"
        case .completeUnlessOpen: "NSFileProtectionCompleteUnlessOpen"
        case .completeUntilFirstUserAuthentication: "NSFileProtectionCompleteUntilFirstUserAuthentication"
        case .completeWhenUserInactive: "NSFileProtectionCompleteWhenUserInactive"
        case .none: "NSFileProtectionNone"
        }
    }
}
