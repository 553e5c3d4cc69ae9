import Glibc
import PurgeCommandLine
import PurgeSystem

/// The allowed places for stores, mount points and files that purgefs writes. A purge of a container could take files of a
/// store inside it. A daemon that serves a directory inside its own mount would wait for itself. Changes to a store inside
/// another store would falsify the other's numbers.
package struct PlaceChecks {
    private static let what = "cannot mount"
    private let surroundings: Surroundings

    package init(_ surroundings: Surroundings) { self.surroundings = surroundings }

    /// Checks a store, which need not exist yet.
    package func check(store: String, what: String = PlaceChecks.what) throws(CommandFailure) {
        guard let place = try Self.absolute(store) else { return }
        if let container = surroundings.container(holding: place) {
            throw CommandFailure(
                what, path: store, "the store is inside the container mounted at \(container.mountpoint)",
                advice: "Keep it outside of every container: files in a container may be purged.")
        }
        if let other = surroundings.store(above: place) {
            throw CommandFailure(
                what, path: store, "the store is inside another store, \(other)",
                advice: "Name a directory outside of every store.")
        }
    }

    /// Checks the directory of a backup. A backup inside the container would become a part of itself, and a container may purge
    /// it.
    package func check(backup: String) throws(CommandFailure) {
        guard let place = try Self.absolute(backup) else { return }
        let container = surroundings.container(holding: place).map {
            "the container mounted at \($0.mountpoint)"
        }
        guard let holder = container ?? surroundings.store(holding: place).map({ "a store, \($0)" }) else { return }
        throw CommandFailure(
            "cannot back up", path: backup, "the backup would be inside \(holder)",
            advice: "Name a directory outside of every store and container.")
    }

    /// Checks a file that a run or a daemon writes: its events, trace or log.
    package func check(
        output: String, _ what: String, of store: String?, at mountpoint: String? = nil
    ) throws(CommandFailure) {
        // A log is only appended to, so it overwrites no program.
        if what != "log" { try Self.refuseProgram(output, "cannot write the \(what)") }
        guard let file = try Self.absolute(output, System.resolvedOrCreated) else { return }
        if let mountpoint, let point = try Self.absolute(mountpoint), surroundings.lies(file, in: point) {
            throw CommandFailure(
                "cannot write the \(what)", path: output, "the file is below the mount point",
                advice: "Name a file outside of it: the mount would hide this one.")
        }
        var holder = surroundings.store(above: file)
        if holder == nil, let store, let place = try Self.absolute(store), surroundings.lies(file, in: place) {
            holder = place
        }
        guard let holder else { return }
        throw CommandFailure(
            "cannot write the \(what)", path: output, "the file is inside a store, \(holder)",
            advice: "Name a file outside of it: writing there would damage the store.")
    }

    /// Checks the file of a report. A report inside the container that it describes would change the numbers that it shows.
    package func check(report: String, of store: String?, _ what: String) throws(CommandFailure) {
        try Self.refuseProgram(report, what)
        guard let file = try Self.absolute(report) else { return }
        let container = surroundings.container(holding: file).map {
            "the container mounted at \($0.mountpoint)"
        }
        var holder = container ?? surroundings.store(above: file).map { "a store, \($0)" }
        if holder == nil, let store, let place = try Self.absolute(store), surroundings.lies(file, in: place) {
            holder = "a store, \(place)"
        }
        guard let holder else { return }
        throw CommandFailure(
            what, path: report, "the file is inside \(holder)",
            advice: "Name a file outside of every store and container.")
    }

    /// Refuses to overwrite a program, which is usually COMMAND after an option whose FILE was forgotten.
    private static func refuseProgram(_ path: String, _ what: String) throws(CommandFailure) {
        let beginning: [UInt8]
        do throws(Errno) {
            guard try System.status(ofPath: path).isRegularFile else { return }
            beginning = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK).readSome(4, at: 0)
        } catch { return }
        guard beginning.starts(with: "\u{7F}ELF".utf8) || beginning.starts(with: "#!".utf8) else { return }
        throw CommandFailure(
            what, path: path, "it is a program, which would be overwritten",
            advice: "Name another file. Is the FILE of an option missing?")
    }

    package func check(mountpoint: String, of store: String) throws(CommandFailure) {
        guard let point = try Self.absolute(mountpoint), let place = try Self.absolute(store) else { return }
        if surroundings.lies(place, in: point) {
            throw CommandFailure(
                Self.what, path: store, "the store is at or below the mount point",
                advice: "Name a store outside of the mount point.")
        }
        if surroundings.lies(point, in: place) {
            throw CommandFailure(
                Self.what, path: mountpoint, "the mount point is inside the store",
                advice: "Name an empty directory outside of the store.")
        }
        if let container = surroundings.container(holding: point) {
            throw CommandFailure(
                Self.what, path: mountpoint,
                "the mount point is inside the container mounted at \(container.mountpoint)",
                advice: "Name a directory outside of every container.")
        }
        if let other = surroundings.store(holding: point) {
            throw CommandFailure(
                Self.what, path: mountpoint, "the mount point is inside another store, \(other)",
                advice: "Name a directory outside of every store.")
        }
    }

    /// Returns the absolute path; nil if the path cannot be resolved. The later attempt to use the path then reports the
    /// reason.
    private static func absolute(
        _ path: String, _ resolve: (String) throws(Errno) -> String = System.resolvedOrParent
    ) throws(CommandFailure) -> String? {
        do throws(Errno) {
            return try resolve(path)
        } catch .illegalByteSequence {
            throw CommandFailure(what, path: path, Errno.illegalByteSequence)
        } catch { return nil }
    }
}
