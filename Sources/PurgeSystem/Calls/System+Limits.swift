import Glibc

// RLIMIT_NOFILE, the limit on this process's descriptors.
extension System {
    /// Returns the soft limit.
    public static func descriptorLimit() -> Int { Int(clamping: descriptorLimits().rlim_cur) }
    /// Returns the hard limit.
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
