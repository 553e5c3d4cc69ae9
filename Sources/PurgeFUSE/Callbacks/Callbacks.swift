import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeVolume

// libfuse's table. Each callback decodes the request, calls the volume and answers. The closures are formed in nonisolated
// functions: formed in main() they would inherit its actor and crash on our threads.
extension fuse_lowlevel_ops {
    static func volume() -> fuse_lowlevel_ops {
        var operations = fuse_lowlevel_ops()
        operations.`init` = { Connection.begin($0, $1) }
        addLookups(&operations)
        addNames(&operations)
        addAttributes(&operations)
        addFiles(&operations)
        addData(&operations)
        addDirectories(&operations)
        addExtendedAttributes(&operations)
        addIoctl(&operations)
        return operations
    }
}

typealias FileInfo = UnsafeMutablePointer<fuse_file_info>

extension Request {
    /// Returns the name of a request. The pointer that libfuse passes leads into the request, and is never nil.
    func name(_ pointer: UnsafePointer<CChar>?) throws(Errno) -> CName {
        guard let pointer else { throw .invalid }
        return pointer
    }

    /// Returns the object behind an open file of the kernel, or throws EBADF if there is none.
    func object<Object: AnyObject>(_ info: FileInfo?, _ type: Object.Type = Object.self) throws(Errno) -> Object {
        guard let info, let object = Server.object(info.pointee.fh, type) else { throw .badFileDescriptor }
        return object
    }

    func handle(_ info: FileInfo?) throws(Errno) -> Handle { try object(info) }
}

/// The settings agreed with the kernel when the session begins.
enum Connection {
    static func begin(_ userdata: UnsafeMutableRawPointer?, _ connection: UnsafeMutablePointer<fuse_conn_info>?) {
        guard let userdata, let connection else { return }
        // Unmanaged: the session's userdata is the server, which is never released.
        let server = Unmanaged<Server>.fromOpaque(userdata).takeUnretainedValue()
        shim_want(connection, server.volume.keepsAccessControlLists ? 1 : 0)
        // RELEASE travels with the background requests, so a low limit would hold it back behind later requests.
        connection.pointee.max_background = 65535
        connection.pointee.congestion_threshold = 49151
        connection.pointee.time_gran = 1
        // A power of two that is smaller than the pages of one request can hold. A large write then arrives in equal parts
        // whatever the alignment of its buffer, and the page cache of the store's file system keeps large folios.
        connection.pointee.max_write = 512 << 10
    }
}
