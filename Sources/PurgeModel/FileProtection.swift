/// A data protection class (FACTS section 5).
public enum FileProtection: String, CaseIterable, Codable, Sendable {
    case complete, completeUnlessOpen, completeUntilFirstUserAuthentication, completeWhenUserInactive, none

    /// Takes the short name or Apple's `NSFileProtection...` string (SPEC section 4).
    public init?(text: some StringProtocol) {
        if let short = FileProtection(rawValue: String(text)) {
            self = short
            return
        }
        guard let match = Self.allCases.first(where: { $0.appleName == text }) else { return nil }
        self = match
    }

    /// As URLFileProtection's raw values read.
    public var appleName: String {
        "NSFileProtection" + rawValue.prefix(1).uppercased() + rawValue.dropFirst()
    }
}
