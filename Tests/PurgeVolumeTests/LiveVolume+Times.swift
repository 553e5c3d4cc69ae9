import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree
import Support

@testable import PurgeVolume

extension LiveVolume {
    /// A file's times as an app sees them.
    struct Times: Equatable {
        var access: FileTime
        var modification: FileTime
        var change: FileTime
        var birth: Instant?

        func older(by span: Int64) -> Times {
            Times(
                access: access.earlier(by: span), modification: modification.earlier(by: span),
                change: change.earlier(by: span),
                birth: birth.map { Instant(nanoseconds: $0.nanoseconds - span * 1_000_000_000) })
        }
    }

    func times(_ path: String) throws(Errno) -> Times { try times(of: try node(path)) }

    func times(of node: Node) throws(Errno) -> Times {
        let attributes = try volume.attributes(of: node, withBirth: true)
        let status = attributes.status
        return Times(
            access: FileTime(status.st_atim), modification: FileTime(status.st_mtim),
            change: FileTime(status.st_ctim), birth: attributes.birth)
    }

    /// Returns the times of the file in the store.
    func storedTimes(_ path: String) throws -> Times {
        let status = try Files.status(stored(path))
        return Times(
            access: FileTime(status.st_atim), modification: FileTime(status.st_mtim),
            change: FileTime(status.st_ctim), birth: nil)
    }

    func advance(days: Int64) throws(Errno) { try advance(seconds: days * 86400) }
    func advance(seconds: Int64) throws(Errno) {
        try volume.deviceChanges.apply(
            .clock(TimeSpan(seconds: seconds)), as: "+\(seconds)s", by: Self.tid)
    }

    /// Sets times as utimensat(2) does; nil leaves a time as it is.
    func setTimes(_ path: String, access: FileTime? = nil, modification: FileTime? = nil) throws(Errno) {
        try change(try node(path), nil) {
            $0.accessTime = access.map(Self.kernelTime)
            $0.modificationTime = modification.map(Self.kernelTime)
        }
    }

    static func change(ofTimesTo time: FileTime) -> AttributeChange {
        var change = AttributeChange(caller: caller)
        (change.accessTime, change.modificationTime) = (kernelTime(time), kernelTime(time))
        return change
    }

    private static func kernelTime(_ time: FileTime) -> timespec {
        timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
    }

    static var now: FileTime { FileTime(Instant(nanoseconds: System.now())) }
    static func ago(days: Int64) -> FileTime { now.earlier(by: days * 86400) }
}
