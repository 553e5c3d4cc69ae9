import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// The operations on the files of `MOUNT/.purgefs`.
public struct ControlFiles: VolumeFamily {
    let core: VolumeCore
    let keeper: StoreKeeper
    let deviceChanges: DeviceChanges
    let deviceTimer: DeviceTimer

    /// Opens a control file. `flags` are the flags of open(2).
    public func open(_ node: Node, flags: Int32 = O_RDWR) throws(Errno) -> ControlHandle {
        // A command may need the room of files that are kept open for retried calls, and a number must not count such files
        // without a name.
        if flags & O_ACCMODE == O_WRONLY { retries.finishForCommand() } else { retries.finishNameless() }
        guard let file = control.file(node) else { throw .isDirectory }
        let handle = ControlHandle(
            file: file, reader: file == .events ? events.addReader() : nil,
            isReadable: flags & O_ACCMODE != O_WRONLY)
        if file == .storagePressure {
            handle.levelChangesSeen = core.read { $0.device.levelChanges }
            control.addPressureReader(handle)
        }
        return handle
    }

    public func close(_ handle: ControlHandle) {
        if let reader = handle.reader { events.remove(reader) }
        if handle.file == .storagePressure { control.removePressureReader(handle) }
    }

    /// Returns bytes from `offset` on. At offset 0 the content of a report is generated anew, once the work that is due on the
    /// device is done. So this must not run on a thread that serves requests.
    public func read(_ handle: ControlHandle, offset: Int64, limit: Int) -> [UInt8] {
        if offset == 0 { renew(handle, text(of:)) }
        return handle.bytes(from: offset, limit: limit)
    }

    /// Reads without waiting, for a thread that serves requests; nil if there is something to wait for.
    public func readAtOnce(_ handle: ControlHandle, offset: Int64, limit: Int) -> [UInt8]? {
        // Waits while processes are being stopped.
        if handle.file == .appProcess { return nil }
        if offset == 0 {
            renew(handle, currentText(of:))
            // Checked afterwards: by now the text may be out of date, or report a change that is still being carried out.
            if deviceTimer.isUnsettled { return nil }
        }
        return handle.bytes(from: offset, limit: limit)
    }

    private func renew(_ handle: ControlHandle, _ text: (ControlFile) -> String) {
        if handle.file == .storagePressure { handle.levelChangesSeen = core.read { $0.device.levelChanges } }
        if !handle.file.answers { handle.content = Array(text(handle.file).utf8) }
    }

    /// Returns the events of poll(2).
    public func poll(_ handle: ControlHandle) -> UInt32 {
        var events: Int32 = 0
        if handle.file.canWrite { events |= POLLOUT }
        if let reader = handle.reader {
            if reader.isReadable { events |= POLLIN }
        } else {
            events |= POLLIN
        }
        if handle.file == .storagePressure,
            core.read({ $0.device.levelChanges }) != handle.levelChangesSeen
        {
            events |= POLLPRI | POLLERR
        }
        return UInt32(events)
    }

    /// Returns the content of a file, once all due work has been carried out.
    public func text(of file: ControlFile) -> String {
        deviceTimer.awaitDue()
        return currentText(of: file)
    }

    private func currentText(of file: ControlFile) -> String {
        openFiles.settleMappings()
        policies.settle()
        switch file.row.content {
        case .report(let read), .setting(let read, _): return read(core)
        case .process: return "\(core.app.pid ?? 0)\n"
        case .faults: return core.faults.text
        case .answer, .stream: return ""
        }
    }
}

// Texts that consist of several numbers.
extension VolumeCore {
    func thresholdText() -> String {
        let limits = read { $0.device.limits }
        return ThresholdLevel.allCases.map { "\($0.rawValue) \(limits[$0].bytes)\n" }.joined()
    }
}
