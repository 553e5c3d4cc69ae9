import CSystemShims

/// Makes the C library read names as UTF-8, on one thread and for one call. Otherwise it treats them as bytes.
public final class UTF8Names {
    private let locale: UnsafeMutableRawPointer?

    public init() { locale = shim_make_utf8() }
    deinit { shim_free_utf8(locale) }

    /// Whether the C library has a locale with UTF-8.
    public static let isAvailable = UTF8Names().locale != nil

    /// Runs `body`, which must stay on this thread.
    public func run<Result>(_ body: () -> Result) -> Result {
        shim_use_utf8(locale)
        defer { shim_use_utf8(nil) }
        return body()
    }
}
