import CFuse
import CFuseShims
import Glibc
import PurgeStore
import PurgeSystem
import PurgeVolume

// The session with libfuse and the kernel.
extension MountService {
    /// Mounts, and takes over the connection to the kernel. Returns the threads for requests by io_uring, if there are any.
    static func mount(
        _ request: MountRequest, at mountpoint: String, _ store: Store, _ server: Server
    ) throws(StoreError) -> (Channel, RingWorkers<Server>?) {
        let rings = try RingWorkers.start(request.transport, server, at: mountpoint)
        let session = try session(options(request, store), server, mountpoint)
        guard fuse_session_mount(session, mountpoint) == 0 else {
            fuse_session_destroy(session)
            throw StoreError(
                "could not be mounted", path: mountpoint,
                advice:
                    "The message above says why. If permission was denied or the operation not permitted: "
                    + "a container forbids mounting unless it was started with --cap-add SYS_ADMIN and, where AppArmor "
                    + "is in use, --security-opt apparmor=unconfined (SELinux: label=disable).")
        }
        return (try channel(session, server, mountpoint), rings)
    }

    /// Returns the text after -o.
    private static func options(_ request: MountRequest, _ store: Store) -> String {
        let name = store.absolutePath.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
        var options = ["fsname=\(name)", "subtype=purgefs", "default_permissions"] + request.options
        if request.allowsOther && !options.contains("allow_other") { options.append("allow_other") }
        return options.joined(separator: ",")
    }

    private static func session(
        _ options: String, _ server: Server, _ mountpoint: String
    ) throws(StoreError) -> OpaquePointer {
        var operations = fuse_lowlevel_ops.volume()
        // Unmanaged: never released, since the callbacks have no other reference to the server, and the process ends
        // with its one mount.
        let userdata = Unmanaged.passRetained(server).toOpaque()
        let session = System.withPointers(["purgefs", "-o", options].map { Array($0.utf8CString) }) { arguments in
            shim_session_new(3, arguments, &operations, MemoryLayout<fuse_lowlevel_ops>.size, userdata)
        }
        if let session { return session }
        throw StoreError(
            "libfuse refused the mount options \(options)", path: mountpoint,
            advice: "purgefs's own settings are given without -o, as in --total SIZE; for the options of -o see "
                + "man mount.fuse3.")
    }

    /// Returns the connection of a mounted session. If it cannot be used, the mount is removed again.
    private static func channel(
        _ session: OpaquePointer, _ server: Server, _ mountpoint: String
    ) throws(StoreError) -> Channel {
        // The FUSE mount is one level above the store's file system, or two if that is an overlay.
        do throws(Errno) { return try Channel(session, stackDepth: server.volume.isOnOverlay ? 2 : 1) } catch {
            fuse_session_unmount(session)
            throw StoreError(
                "the connection to the kernel cannot be used: \(error)", path: mountpoint, advice: "Mount it again.")
        }
    }
}
