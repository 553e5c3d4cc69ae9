import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// The control files of a container (docs/CONTROL.md), whether it is mounted or not.
package protocol ControlEndpoint {
    /// The mount point or the store, for messages.
    var place: String { get }
    var isMounted: Bool { get }
    /// Warnings about files that could not be read, and so are missing from the numbers.
    var warnings: [String] { get }
    func read(_ file: ControlFile) throws(Errno) -> String
    /// Writes a command. One write(2) is one command.
    func write(_ text: String, to file: ControlFile) throws(Errno)
    /// Writes a command and reads the answer from the same descriptor.
    func exchange(_ command: [UInt8], with file: ControlFile) throws(Errno) -> ControlAnswer
    /// Returns the folder of the container, for removing files from it.
    func cleanableFolder() throws(Errno) -> any CleanableFolder
    /// Saves the changes and closes the store; does nothing for a mount.
    func close() throws(CommandFailure)
}

/// The files in MOUNT/.purgefs.
package struct MountedControl: ControlEndpoint {
    package let place: String
    package let isMounted = true
    package let warnings: [String] = []

    package init(place: String) { self.place = place }

    package func path(_ file: ControlFile) -> String { "\(place)/\(ControlFile.directory)/\(file.rawValue)" }

    package func read(_ file: ControlFile) throws(Errno) -> String {
        String(decoding: try FileDescriptor.open(path(file), O_RDONLY).readAll(), as: UTF8.self)
    }

    package func write(_ text: String, to file: ControlFile) throws(Errno) {
        _ = try FileDescriptor.open(path(file), O_WRONLY).writeOnce(text)
    }

    package func exchange(_ command: [UInt8], with file: ControlFile) throws(Errno) -> ControlAnswer {
        let descriptor = try FileDescriptor.open(path(file), O_RDWR)
        var isShort = false
        do throws(Errno) { _ = try descriptor.writeOnce(command) } catch .tryAgain { isShort = true }
        return ControlAnswer(text: String(decoding: try descriptor.readAll(), as: UTF8.self), isShort: isShort)
    }

    package func cleanableFolder() throws(Errno) -> any CleanableFolder { try MountedFolder(mount: place) }

    package func close() {}
}

/// A store that no daemon holds.
package struct OfflineControl: ControlEndpoint {
    package let place: String
    package let isMounted = false
    package var warnings: [String] { volume.unreadableWarnings() }
    private let volume: OfflineVolume

    /// Opens the store. With `forReading`, nothing in it changes.
    package init(store: String, forReading: Bool = false) throws(CommandFailure) {
        place = store
        do throws(StoreError) {
            volume = try OfflineVolume(storePath: store, forReading: forReading)
        } catch { throw CommandFailure("cannot open the store", error) }
    }

    package func read(_ file: ControlFile) throws(Errno) -> String { try volume.read(file.rawValue) }
    package func write(_ text: String, to file: ControlFile) throws(Errno) { try volume.write(text, to: file.rawValue) }
    package func exchange(_ command: [UInt8], with file: ControlFile) throws(Errno) -> ControlAnswer {
        try volume.exchange(command, with: file.rawValue)
    }
    package func cleanableFolder() -> any CleanableFolder { StoredFolder(volume.folder) }
    package func recordProblems(repairing: Bool) throws(CommandFailure) -> [StoreProblem] {
        do throws(StoreError) {
            return try volume.recordProblems(repairing: repairing)
        } catch { throw CommandFailure("cannot check", error) }
    }
    package func close() throws(CommandFailure) {
        do throws(StoreError) { try volume.close() } catch { throw CommandFailure("cannot close the store", error) }
    }
}

extension ControlEndpoint {
    /// Returns the content of a file. Unlike `read`, it throws a message for the user.
    package func content(of file: ControlFile) throws(CommandFailure) -> String {
        do throws(Errno) {
            return try read(file)
        } catch { throw CommandFailure("cannot read \(file.rawValue)", path: place, error) }
    }

    /// Returns the directories that have a policy, in the order of their paths.
    package func policies() throws(CommandFailure) -> [PolicyLine] {
        do {
            return try content(of: .storagePolicies).split(separator: "\n").map {
                try JSONText.decode(PolicyLine.self, from: String($0))
            }
        } catch let error as CommandFailure { throw error } catch {
            throw CommandFailure(
                "cannot understand \(ControlFile.storagePolicies.rawValue)", path: place,
                "its format is unknown to this version of purgefs",
                advice: "Use the purgefs that mounted it (`purgefs --version`).")
        }
    }

    package func status() throws(CommandFailure) -> StatusReport {
        let text = try content(of: .status)
        do {
            return try JSONText.decode(StatusReport.self, from: text)
        } catch {
            throw CommandFailure(
                "cannot understand \(ControlFile.status.rawValue)", path: place,
                "its format is unknown to this version of purgefs",
                advice: "Use the purgefs that mounted it (`purgefs --version`).")
        }
    }

    /// Fails if the store of a mount is no longer at its path.
    package func requireStore(_ what: String) throws(CommandFailure) {
        guard isMounted, let loss = Target.loss(of: try status().store, at: place, what) else { return }
        throw loss
    }

    /// Returns a number of storage.stat, or nil if this mount does not have it.
    package func stat(_ name: String) throws(CommandFailure) -> Int64? {
        let line = try content(of: .storageStat).split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Int64($0.dropFirst(name.utf8.count + 1)) }
    }

    /// Makes the container write pending events to its journal. Every purge does so at its end, so this method requests a purge
    /// of 0 bytes.
    package func flushJournal() throws(CommandFailure) {
        do throws(Errno) {
            try write("0", to: .storageReclaim)
        } catch .readOnly {
            // In a read-only mount, events reach the journal within about a second.
        } catch { throw CommandFailure("cannot flush the journal", path: place, error) }
    }
}
