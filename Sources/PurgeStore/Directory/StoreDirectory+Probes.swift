import Glibc
import PurgeSystem

extension StoreDirectory {
    private static let probe = "user.purgefs.probe"

    /// Refuses a directory that has foreign names but no device.json. A directory with only a store's own names is empty, or a
    /// store whose settings were never saved. Unless `creating`, also refuses a directory with neither device.json nor
    /// container/.
    func refuseForeign(_ names: Set<String>, creating: Bool) throws(StoreError) {
        if names.contains(DeviceFile.name) { return }
        let foreign = names.filter { !Self.isOurs($0) }.sorted()
        if let first = foreign.first {
            throw StoreError(
                "is not a store, and not empty (\(foreign.count == 1 ? "" : "among others, ")`\(first)` is in it)",
                path: path,
                advice: creating
                    ? "Name a new or an empty directory: purgefs turns no other into a store. Nothing was changed."
                    : "Name the store that was given to `purgefs mount`.")
        }
        guard creating || names.contains("container") else {
            throw StoreError(
                "there is no store here: the directory has neither container/ nor device.json", path: path,
                advice: "Check the path; `purgefs mount` makes a store in an empty directory.")
        }
    }

    /// Throws if the store cannot be written for any other reason than a full disk. Also removes the file that an interrupted
    /// save of the settings left behind.
    func probeWriting() throws(StoreError) {
        do {
            _ = try makeFresh(DeviceFile.newName)
            try remove(DeviceFile.newName)
        } catch .readOnly {
            throw unwritable(
                "the store is on a file system that is mounted read-only",
                advice: "Copy the store to a writable place, or remount that file system read-write.")
        } catch let error where error.isForLackOfRoom {
            // A store on a full disk is accepted, because files can still be deleted through the mount.
        } catch let error where error == .accessDenied || error == .notPermitted {
            let failure = StoreError.failed("the store cannot be written", path: path, error)
            throw unwritable(failure.what, advice: failure.advice)
        } catch { throw .failed("the store cannot be written", path: path, error) }
    }

    /// Removes the mark of any start but `start`, because the store will no longer be as that other start has left it.
    func endOtherStarts(than start: String? = nil) throws(StoreError) {
        do {
            try StartMark.clear(on: descriptor, butOf: start)
        } catch { throw .failed("the mark of an earlier run cannot be removed from the store", path: path, error) }
    }

    private func unwritable(_ what: String, advice: String) -> StoreError {
        var error = StoreError(what, path: path, advice: advice + " To look at it: purgefs mount -o ro")
        error.isForLackOfWriting = true
        return error
    }

    /// Checks that the store supports extended attributes, which hold marks, protection classes and the record of holes.
    func probeAttributes(on container: FileDescriptor) throws(StoreError) {
        do {
            do throws(Errno) {
                try probe(container)
            } catch .accessDenied {
                try probe(descriptor)  // the app has made the container unwritable
            }
        } catch .notSupported {
            throw StoreError(
                "the file system under the store does not support user extended attributes", path: path,
                advice: "Put the store on ext4, XFS, Btrfs, ZFS, or (from Linux 6.6 on) tmpfs.")
        } catch let error where error.isForLackOfRoom {
            // A file system without attributes would have reported that first, so this one supports them.
        } catch { throw .failed("an extended attribute cannot be set on the container", path: path, error) }
    }

    private func probe(_ directory: FileDescriptor) throws(Errno) {
        try System.setAttribute(at: directory.raw, nil, Self.probe, [1])
        try System.removeAttribute(at: directory.raw, nil, Self.probe)
    }
}
