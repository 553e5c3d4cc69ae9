import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

// utimensat(2): docs/CLOCK.md.
extension AttributeChanges {
    /// Sets the times of an entry. The record of set times is written before the stamps, and is valid only together with them.
    /// As long as the stamps are not set, the file keeps its old times.
    func setTimes(of node: Node, _ change: AttributeChange, at location: Location) throws(Errno) {
        let now = FileTime(Instant(nanoseconds: System.now()))
        var times = read { state in TimesToSet(change, of: node, at: now, in: state) }
        try remember(times, of: node, at: location)
        try location.setTimes(times.access, times.modification)
        // A file system that cannot represent a time has stored the nearest one.
        guard times.isRemembered else { return }
        if times.take(try location.status()) { try remember(times, of: node, at: location) }
    }

    private func remember(_ times: TimesToSet, of node: Node, at location: Location) throws(Errno) {
        guard times.set != times.known else { return }
        let isLink = !node.isRegular && !node.isDirectory
        do throws(Errno) {
            try store(times.set.text, of: location, as: isLink ? SetTimes.linkKey : SetTimes.key)
        } catch {
            // Only root can give links and special files an attribute, and a file may have no room for one. The times are
            // then known only until the unmount.
            let isRefused = isLink && (error == .notPermitted || error == .notSupported)
            guard isRefused || error.meansNoRoomForAttribute else { throw error }
        }
        change { state in
            state[node].io.setTimes = times.set
            state[node].io.timesVersion &+= 1
        }
    }

    private func store(_ text: String, of location: Location, as key: String) throws(Errno) {
        try location.with { (directory, name) throws(Errno) in
            do throws(Errno) { try Self.store(text, of: directory, name, key) } catch {
                guard error == .accessDenied, geteuid() != 0 else { throw error }
                // The owner of a file may set its times even without write permission, but setting the attribute requires that
                // permission.
                var file: FileDescriptor?
                if let name { file = try .init(adopting: System.open(at: directory, name, Self.pathFlags)) }
                try access.asOwner(of: file?.raw ?? directory) { () throws(Errno) in
                    try Self.store(text, of: directory, name, key)
                }
            }
        }
    }

    private static let pathFlags = System.openPath | O_NOFOLLOW | O_CLOEXEC

    private static func store(
        _ text: String, of directory: Int32, _ name: CName?, _ key: String
    ) throws(Errno) {
        if text.isEmpty {
            do { try System.removeAttribute(at: directory, name, key) } catch .noData {}
        } else {
            try System.setAttribute(at: directory, name, key, Array(text.utf8))
        }
    }
}

/// The times of a change, in the form in which they are stored.
private struct TimesToSet {
    private(set) var access = timespec(tv_sec: 0, tv_nsec: System.timeOmit)
    private(set) var modification = timespec(tv_sec: 0, tv_nsec: System.timeOmit)
    /// The times remembered so far; `set` has the times remembered from now on.
    let known: SetTimes
    private(set) var set: SetTimes
    private let clock: FileClock
    private var remembered: [(kind: SetTimes.Kind, stamp: FileTime)] = []

    var isRemembered: Bool { !remembered.isEmpty }

    init(_ change: AttributeChange, of node: Node, at now: FileTime, in state: borrowing VolumeState) {
        known = state[node].io.setTimes
        set = known
        clock = state.device.fileClock
        if let time = change.accessTime { access = keep(time, .access, at: now) }
        if let time = change.modificationTime { modification = keep(time, .modification, at: now) }
    }

    private mutating func keep(_ time: timespec, _ kind: SetTimes.Kind, at now: FileTime) -> timespec {
        // With UTIME_NOW the file system sets its own stamp, and with UTIME_OMIT it sets none.
        if time.tv_nsec == System.timeNow || time.tv_nsec == System.timeOmit { return time }
        let (stamp, isRemembered) = clock.stamp(for: FileTime(time), at: now)
        set.set(stamp, kind, clock: isRemembered ? clock.ahead : nil)
        if isRemembered { remembered.append((kind, stamp)) }
        return stamp.timespec
    }

    /// Adopts the stamps that the file system has stored. Returns whether any of them differs from the requested one.
    mutating func take(_ status: FileStatus) -> Bool {
        var hasOthers = false
        for (kind, wanted) in remembered {
            let stamp = FileTime(kind == .access ? status.st_atim : status.st_mtim)
            if stamp != wanted {
                set.set(stamp, kind, clock: clock.ahead)
                hasOthers = true
            }
        }
        return hasOthers
    }
}
