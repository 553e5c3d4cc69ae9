import CFuse
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume

// LOOKUP, FORGET and the requests that make, move and remove names.
extension fuse_lowlevel_ops {
    static func addNames(_ operations: inout fuse_lowlevel_ops) {
        operations.lookup = { request, parent, name in
            guard let request else { return }
            let server = Server.of(request)
            let parent = server.node(parent)
            do throws(Errno) {
                // Determined before a Reply is created, because a Reply that is not sent becomes EIO.
                let caller = server.caller(request)
                let entry = try server.retries.lookup(caller.pid) { () throws(Errno) in
                    try server.volume.lookup(Server.name(name), in: parent, caller: caller)
                }
                Reply(request).entry(entry)
            } catch .noEntry {
                Reply(request).absent(mayBeCached: server.volume.mayCacheAbsence(name, in: parent))
            } catch {
                Reply(request).error(error)
            }
        }
        operations.forget = { request, node, count in
            guard let request else { return }
            let server = Server.of(request)
            server.volume.forget(server.node(node), count: count)
            Reply(request).none()
        }
        operations.forget_multi = { request, count, list in
            guard let request else { return }
            let server = Server.of(request)
            for item in UnsafeBufferPointer(start: list, count: count) {
                server.volume.forget(server.node(item.ino), count: item.nlookup)
            }
            Reply(request).none()
        }
        operations.mkdir = { request, parent, name, mode in
            guard let request else { return }
            let server = Server.of(request)
            Reply.to(request) { () throws(Errno) in
                try server.volume.makeDirectory(
                    Server.name(name), in: server.node(parent), mode: mode, caller: server.caller(request))
            } _: {
                $0.entry($1)
            }
        }
        operations.mknod = { request, parent, name, mode, device in
            guard let request else { return }
            let server = Server.of(request)
            Reply.to(request) { () throws(Errno) in
                try server.volume.makeNode(
                    Server.name(name), in: server.node(parent), mode: mode, device: device,
                    caller: server.caller(request))
            } _: {
                $0.entry($1)
            }
        }
        operations.symlink = { request, target, parent, name in
            guard let request else { return }
            let server = Server.of(request)
            Reply.to(request) { () throws(Errno) in
                try server.volume.makeSymbolicLink(
                    to: Server.name(target), Server.name(name), in: server.node(parent),
                    caller: server.caller(request))
            } _: {
                $0.entry($1)
            }
        }
        operations.link = { request, node, parent, name in
            guard let request else { return }
            let server = Server.of(request)
            Reply.to(request) { () throws(Errno) in
                try server.volume.link(
                    server.node(node), as: Server.name(name), in: server.node(parent), caller: server.caller(request))
            } _: {
                $0.entry($1)
            }
        }
        operations.unlink = { request, parent, name in
            guard let request else { return }
            let server = Server.of(request)
            Reply.done(request) { () throws(Errno) in
                try server.volume.unlink(Server.name(name), in: server.node(parent), caller: server.caller(request))
            }
        }
        operations.rmdir = { request, parent, name in
            guard let request else { return }
            let server = Server.of(request)
            Reply.done(request) { () throws(Errno) in
                try server.volume.removeDirectory(Server.name(name), in: server.node(parent))
            }
        }
        operations.rename = { request, parent, name, newParent, newName, flags in
            guard let request else { return }
            let server = Server.of(request)
            Reply.done(request) { () throws(Errno) in
                try server.volume.rename(
                    Server.name(name), in: server.node(parent), to: Server.name(newName), in: server.node(newParent),
                    flags: flags)
            }
        }
        operations.readlink = { request, node in
            guard let request else { return }
            let server = Server.of(request)
            Reply.to(request) { () throws(Errno) in
                try server.volume.readLink(server.node(node))
            } _: {
                $0.link($1)
            }
        }
    }
}
