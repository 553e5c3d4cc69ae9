/// The property list that is the value of isExcludedFromBackup under Apple's name, byte for byte.
public enum ApplesList {
    public static let bytes: [UInt8] = {
        let hex =
            "62706c69737430305f1011636f6d2e6170706c652e6261636b7570640800000000000001010000000000000001"
            + String(repeating: "00", count: 15) + "1c"
        return stride(from: 0, to: hex.count, by: 2).map { at in
            UInt8(hex.dropFirst(at).prefix(2), radix: 16) ?? 0
        }
    }()
}
