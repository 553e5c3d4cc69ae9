import Glibc

// RLIMIT_NOFILE: how many descriptors this process may have.
extension System {
    /// The soft limit.
    public static func descriptorLimit() -> Int { Int(clamping: descriptorLimits().rlim_cur) }
    /// The hard limit.
    public static func largestDescriptorLimit() -> Int { Int(clamping: descriptorLimits().rlim_max) }
    /// Raises the soft limit to the hard one, if that is allowed.
    public static func raiseDescriptorLimit() {
        var limits = descriptorLimits()
        limits.rlim_cur = limits.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }

    private static func descriptorLimits() -> rlimit {
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        return limits
    }
}
