import CFuse
import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree
import PurgeVolume

// IOCTL: the two APFS commands for purgeable files and directories (docs/XATTRS.md, The ioctl).
extension fuse_lowlevel_ops {
    static func addIoctl(_ operations: inout fuse_lowlevel_ops) {
        operations.ioctl = { request, node, number, _, info, _, input, inputSize, _ in
            guard let request = Request(request) else { return }
            let data = UnsafeRawBufferPointer(start: input, count: inputSize)
            PurgeableCommand.serve(number, on: request.node(node), info, data, for: request)
        }
    }
}

/// The supported commands. The kernel derives the size and direction of a command's data from its number.
private enum PurgeableCommand: UInt32 {
    /// APFSIOC_MARK_PURGEABLE, `_IOWR('J', 68, uint64_t)`.
    case mark = 0xC008_4A44
    /// `_IOR('J', 71, uint64_t)` as Darwin encodes it. Linux takes this number for a command that returns no data in memory, so
    /// the flags are the call's result.
    case result = 0x4008_4A47
    /// `_IOR('J', 71, uint64_t)` as Linux encodes it.
    case read = 0x8008_4A47

    /// Answers ENOTTY for unsupported commands, and for anything but files and directories of the app.
    static func serve(
        _ number: UInt32, on node: Node, _ info: FileInfo?, _ data: UnsafeRawBufferPointer, for request: Request
    ) {
        guard node.isRegular || node.isDirectory, !node.isControl, let command = PurgeableCommand(rawValue: number)
        else {
            return request.fail(Errno(ENOTTY))
        }
        request.answer { () throws(Errno) in
            try command.flags(of: node, info, data, request)
        } _: { reply, flags in
            let answer = withUnsafeBytes(of: flags.bits.littleEndian) { Array($0) }
            switch command {
            case .result: reply.command(result: Int32(truncatingIfNeeded: flags.bits), [])
            case .mark, .read: reply.command(result: 0, answer)
            }
        }
    }

    /// Carries out the command, and returns the flags that are then in effect.
    private func flags(
        of node: Node, _ info: FileInfo?, _ data: UnsafeRawBufferPointer, _ request: Request
    ) throws(Errno) -> PurgeableFlags {
        let marks = request.volume.openFileMarks
        if self == .mark {
            guard data.count == MemoryLayout<UInt64>.size,
                let mark = PurgeableFlags(bits: UInt64(littleEndian: data.loadUnaligned(as: UInt64.self))).mark
            else { throw .invalid }
            if request.server.isReadOnly { throw .readOnly }
            if node.isDirectory {
                try marks.set(mark, ofDirectory: node, caller: request.caller)
            } else {
                try marks.set(mark, of: request.handle(info), caller: request.caller)
            }
        }
        return PurgeableFlags(marks.mark(of: node), isDirectory: node.isDirectory)
    }
}
