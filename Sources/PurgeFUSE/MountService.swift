import PurgeStore

/// Serves one mount from this process.
public enum MountService {
    /// Opens the store, mounts, calls `whenReady` once the mount works, and returns when it has
    /// been unmounted (fusermount3 -u, or SIGTERM, SIGINT or SIGHUP to this process).
    public static func serve(_ request: MountRequest, whenReady: () -> Void) throws(StoreError) {
        throw StoreError("not built yet", path: request.mountpoint, advice: "")
    }
}
