import CFuse
import CFuseShims
import Glibc
import PurgeModel
import PurgeSystem
import PurgeVolume

/// The one answer to one request. Sending consumes it, so a second answer does not compile. If no answer is sent, the caller
/// gets EIO.
struct Reply: ~Copyable {
    private let request: fuse_req_t

    init(_ request: fuse_req_t) { self.request = request }
    deinit { fuse_reply_err(request, EIO) }

    consuming func error(_ error: Errno) {
        fuse_reply_err(request, error.answer)
        discard self
    }
    consuming func done() {
        fuse_reply_err(request, 0)
        discard self
    }
    /// Ends FORGET, which has no answer.
    consuming func none() {
        fuse_reply_none(request)
        discard self
    }
    /// Returns false if the kernel has not accepted the entry.
    consuming func entry(_ entry: Entry) -> Bool {
        var parameters = fuse_entry_param(entry)
        let code = fuse_reply_entry(request, &parameters)
        discard self
        return code == 0
    }
    /// Answers that the name does not exist. With `mayBeCached`, the kernel may cache the answer.
    consuming func absent(mayBeCached: Bool) {
        if mayBeCached {
            var parameters = fuse_entry_param()
            parameters.entry_timeout = CacheTime.long
            fuse_reply_entry(request, &parameters)
        } else {
            fuse_reply_err(request, ENOENT)
        }
        discard self
    }
    consuming func attributes(_ attributes: Attributes) {
        var status = attributes.status
        fuse_reply_attr(request, &status, attributes.mayBeCached ? CacheTime.long : 0)
        discard self
    }
    /// Answers FUSE_STATX.
    consuming func attributesWithBirth(_ attributes: Attributes) {
        var status = attributes.status
        let birth = attributes.birth?.nanoseconds ?? .min
        shim_reply_statx(request, &status, birth, attributes.mayBeCached ? CacheTime.long : 0)
        discard self
    }
    consuming func open(_ handle: UInt64, flags: UInt32, backing: Int32 = 0) -> Bool {
        let code = shim_reply_open(request, handle, flags, backing)
        discard self
        return code == 0
    }
    consuming func created(_ entry: Entry, _ info: inout fuse_file_info) -> Bool {
        var parameters = fuse_entry_param(entry)
        let code = fuse_reply_create(request, &parameters, &info)
        discard self
        return code == 0
    }
    consuming func written(_ count: Int) {
        fuse_reply_write(request, count)
        discard self
    }
    /// Returns false if the kernel has not accepted the bytes.
    @discardableResult
    consuming func bytes(_ buffer: UnsafeRawBufferPointer) -> Bool {
        let code = fuse_reply_buf(request, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
        discard self
        return code == 0
    }
    consuming func bytes(_ bytes: [UInt8]) {
        let request = request
        bytes.withUnsafeBytes {
            _ = fuse_reply_buf(request, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
        }
        discard self
    }
    /// Answers READ. Spliced data goes from the file to the kernel without a copy in this process.
    consuming func data(_ data: ReadData) {
        switch data {
        case .copied(let bytes):
            fuse_reply_buf(request, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        case .spliced(let descriptor, let offset, let length):
            shim_reply_file(request, descriptor, offset, length)
        }
        discard self
    }
    /// Answers with an attribute's value or a list of names. If `size` is 0, answers with the length only; if `size` is too
    /// small, with ERANGE.
    consuming func value(_ bytes: [UInt8], size: Int) {
        if size == 0 {
            fuse_reply_xattr(request, bytes.count)
            discard self
        } else if bytes.count > size {
            error(.range)
        } else {
            self.bytes(bytes)
        }
    }
    consuming func link(_ target: [CChar]) {
        fuse_reply_readlink(request, target + [0])
        discard self
    }
    consuming func offset(_ offset: Int64) {
        fuse_reply_lseek(request, Int(offset))
        discard self
    }
    /// Answers an ioctl with the result of the call and the data that it returns.
    consuming func command(result: Int32, _ bytes: [UInt8]) {
        let request = request
        bytes.withUnsafeBytes { _ = fuse_reply_ioctl(request, result, $0.baseAddress, $0.count) }
        discard self
    }
    consuming func poll(_ events: UInt32) {
        fuse_reply_poll(request, events)
        discard self
    }
    consuming func statistics(_ statistics: VolumeStatistics) {
        var answer = statvfs()
        answer.f_bsize = 4096
        answer.f_frsize = 4096
        answer.f_blocks = UInt(statistics.blocks)
        answer.f_bfree = UInt(statistics.free)
        answer.f_bavail = UInt(statistics.available)
        answer.f_namemax = 255
        fuse_reply_statfs(request, &answer)
        discard self
    }
}

/// How many seconds the kernel may cache names and attributes. The daemon owns the store, so every change comes through the
/// kernel itself or with a notification.
enum CacheTime {
    static let long: Double = 86400
}

extension fuse_entry_param {
    init(_ entry: Entry) {
        self.init()
        ino = fuse_ino_t(entry.node.address)
        attr = entry.attributes.status
        attr_timeout = entry.attributes.mayBeCached ? CacheTime.long : 0
        entry_timeout = entry.nameMayBeCached ? CacheTime.long : 0
    }
}

func fuse_reply_readlink(_ request: fuse_req_t, _ target: [CChar]) {
    target.withUnsafeBufferPointer { _ = CFuse.fuse_reply_readlink(request, $0.baseAddress) }
}
