import CFuse
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume

// LOOKUP, FORGET, READLINK.
extension fuse_lowlevel_ops {
    static func addLookups(_ operations: inout fuse_lowlevel_ops) {
        operations.lookup = { Request($0)?.lookup($2, in: $1) }
        operations.forget = { request, node, count in
            guard let request = Request(request) else { return }
            request.volume.forget(request.node(node), count: count)
            request.reply().none()
        }
        operations.forget_multi = { request, count, list in
            guard let request = Request(request) else { return }
            for item in UnsafeBufferPointer(start: list, count: count) {
                request.volume.forget(request.node(item.ino), count: item.nlookup)
            }
            request.reply().none()
        }
        operations.readlink = { request, node in
            guard let request = Request(request) else { return }
            request.answer { () throws(Errno) in
                try request.volume.readLink(request.node(node))
            } _: {
                $0.link($1)
            }
        }
    }
}

extension Request {
    fileprivate func lookup(_ name: UnsafePointer<CChar>?, in parent: fuse_ino_t) {
        let parent = node(parent)
        do throws(Errno) {
            // The lookup comes before a reply is made, because a reply that is not sent answers EIO.
            let found = try server.find(name, in: parent, for: self)
            entry { () throws(Errno) in found }
        } catch .noEntry {
            reply().absent(mayBeCached: volume.mayCacheAbsence(name, in: parent))
        } catch { fail(error) }
    }
}

extension Server {
    fileprivate func find(
        _ name: UnsafePointer<CChar>?, in parent: Node, for request: Request
    ) throws(Errno) -> Entry {
        if parent.isControl, kernel.pages.isWaiting(by: request.tid) {
            return try openFile(named: request.name(name))
        }
        return try volume.lookup(request.name(name), in: parent, caller: request.caller)
    }

    /// Finds a file by the name that the page waiter gave it. The name exists only while the page waiter opens the file.
    private func openFile(named name: CName) throws(Errno) -> Entry {
        guard let file = kernel.pages.file(named: name) else { throw .noEntry }
        do throws(Errno) { return try volume.entry(of: file) } catch { throw .noEntry }
    }
}

// Creating, moving and removing names.
extension fuse_lowlevel_ops {
    static func addNames(_ operations: inout fuse_lowlevel_ops) {
        operations.mkdir = { Request($0)?.makeDirectory($2, in: $1, $3) }
        operations.mknod = { Request($0)?.makeNode($2, in: $1, $3, $4) }
        operations.symlink = { Request($0)?.makeSymbolicLink(to: $1, $3, in: $2) }
        operations.link = { Request($0)?.link($1, as: $3, in: $2) }
        operations.unlink = { Request($0)?.unlink($2, in: $1) }
        operations.rmdir = { Request($0)?.removeDirectory($2, in: $1) }
        operations.rename = { Request($0)?.rename($2, in: $1, to: $4, in: $3, flags: $5) }
    }
}

extension Request {
    fileprivate func makeDirectory(_ name: UnsafePointer<CChar>?, in parent: fuse_ino_t, _ mode: mode_t) {
        entry { () throws(Errno) in
            try volume.makeDirectory(self.name(name), in: node(parent), mode: mode, caller: caller)
        }
    }

    fileprivate func makeNode(
        _ name: UnsafePointer<CChar>?, in parent: fuse_ino_t, _ mode: mode_t, _ device: dev_t
    ) {
        entry { () throws(Errno) in
            try volume.makeNode(self.name(name), in: node(parent), mode: mode, device: device, caller: caller)
        }
    }

    fileprivate func makeSymbolicLink(
        to target: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, in parent: fuse_ino_t
    ) {
        entry { () throws(Errno) in
            try volume.makeSymbolicLink(to: self.name(target), self.name(name), in: node(parent), caller: caller)
        }
    }

    fileprivate func link(_ node: fuse_ino_t, as name: UnsafePointer<CChar>?, in parent: fuse_ino_t) {
        entry { () throws(Errno) in
            try volume.link(self.node(node), as: self.name(name), in: self.node(parent), caller: caller)
        }
    }

    fileprivate func unlink(_ name: UnsafePointer<CChar>?, in parent: fuse_ino_t) {
        done { () throws(Errno) in try volume.unlink(self.name(name), in: node(parent), caller: caller) }
    }

    fileprivate func removeDirectory(_ name: UnsafePointer<CChar>?, in parent: fuse_ino_t) {
        done { () throws(Errno) in try volume.removeDirectory(self.name(name), in: node(parent), caller: caller) }
    }

    fileprivate func rename(
        _ name: UnsafePointer<CChar>?, in parent: fuse_ino_t, to newName: UnsafePointer<CChar>?,
        in newParent: fuse_ino_t, flags: UInt32
    ) {
        done { () throws(Errno) in
            try volume.rename(
                self.name(name), in: node(parent), to: self.name(newName), in: node(newParent), flags: flags,
                caller: caller)
        }
    }
}
