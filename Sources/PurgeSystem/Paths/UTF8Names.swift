import CSystemShims

/// Has the C library take names for UTF-8, on one thread and for a moment; otherwise names are bytes to it.
public final class UTF8Names {
    private let locale: UnsafeMutableRawPointer?

    public init() { locale = shim_make_utf8() }
    deinit { shim_free_utf8(locale) }

    /// Whether the C library can do that.
    public static let isAvailable = UTF8Names().locale != nil

    /// `body` stays on this thread.
    public func run<Result>(_ body: () -> Result) -> Result {
        shim_use_utf8(locale)
        defer { shim_use_utf8(nil) }
        return body()
    }
}
