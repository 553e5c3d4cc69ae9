import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeVolume

// libfuse's table. Each callback decodes, calls the volume and replies. They are formed here, in
// nonisolated functions: formed in main() they would inherit its actor and crash on our threads.
extension fuse_lowlevel_ops {
    static func volume() -> fuse_lowlevel_ops {
        var operations = fuse_lowlevel_ops()
        operations.`init` = { Connection.begin($0, $1) }
        addNames(&operations)
        addAttributes(&operations)
        addFiles(&operations)
        addData(&operations)
        addDirectories(&operations)
        addExtendedAttributes(&operations)
        return operations
    }
}

extension Reply {
    /// Runs `body`; its error is the answer, its value goes to `send` with the reply.
    static func to<Value>(
        _ request: fuse_req_t, _ body: () throws(Errno) -> Value, _ send: (consuming Reply, Value) -> Void
    ) {
        do throws(Errno) {
            let value = try body()
            send(Reply(request), value)
        } catch {
            Reply(request).error(error)
        }
    }

    /// The same for a call that may purge. The answer, even an error, is sent when the purged names are gone for
    /// every process.
    static func to<Value: Sendable>(
        _ request: fuse_req_t, purging body: (inout AnnouncementDebt) throws(Errno) -> Value,
        _ send: @escaping @Sendable (consuming Reply, Value) -> Void
    ) {
        let unpaid = Server.of(request).volume.answering(body)
        unpaid.pay {
            Reply(request).send($0, send)
        } later: {
            let pending = Reply(request).later()
            return { pending.take()?.send($0, send) }
        }
    }

    private consuming func send<Value>(
        _ result: Result<Value, Errno>, _ send: (consuming Reply, Value) -> Void
    ) {
        switch result {
        case .success(let value): send(self, value)
        case .failure(let failure): error(failure)
        }
    }

    static func done(_ request: fuse_req_t, _ body: () throws(Errno) -> Void) {
        to(request, body) { reply, _ in reply.done() }
    }
}

extension Server {
    /// libfuse passes names on as it got them: never nil.
    static func name(_ pointer: UnsafePointer<CChar>?) throws(Errno) -> CName {
        guard let pointer else { throw .invalid }
        return pointer
    }

    func handle(_ info: UnsafeMutablePointer<fuse_file_info>?) throws(Errno) -> Handle {
        guard let info, let handle = Self.object(info.pointee.fh, Handle.self) else { throw .badDescriptor }
        return handle
    }

    func directory(_ info: UnsafeMutablePointer<fuse_file_info>?) throws(Errno) -> DirectoryHandle {
        guard let info, let handle = Self.object(info.pointee.fh, DirectoryHandle.self) else { throw .badDescriptor }
        return handle
    }

    func control(_ info: UnsafeMutablePointer<fuse_file_info>?) throws(Errno) -> ControlHandle {
        guard let info, let handle = Self.object(info.pointee.fh, ControlHandle.self) else { throw .badDescriptor }
        return handle
    }
}

/// What is agreed with the kernel when the session begins.
enum Connection {
    static func begin(_ userdata: UnsafeMutableRawPointer?, _ connection: UnsafeMutablePointer<fuse_conn_info>?) {
        guard let userdata, let connection else { return }
        let server = Unmanaged<Server>.fromOpaque(userdata).takeUnretainedValue()
        shim_want(connection, server.volume.keepsAccessControlLists ? 1 : 0)
        // RELEASE travels with the background requests: a limit would hold it back behind later ones.
        connection.pointee.max_background = 65535
        connection.pointee.congestion_threshold = 49151
        connection.pointee.time_gran = 1
        // A power of two, and less than the pages of a request can hold: writes then arrive in even
        // parts whatever the alignment of their buffer, and the page cache below keeps large folios.
        connection.pointee.max_write = KernelRequests.maxWrite
    }
}
