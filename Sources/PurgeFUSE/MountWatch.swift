import Glibc
import PurgeSystem

/// Notices that the mount was removed while files were open in it (`fusermount3 -u -z`). The kernel does not notify the daemon
/// of this.
enum MountWatch {
    /// Calls `action` once, when this mount namespace no longer has the device that is mounted at `mountpoint` now.
    static func start(_ mountpoint: String, _ action: @escaping @Sendable () -> Void) throws(Errno) {
        let table = try FileDescriptor.open("/proc/self/mountinfo", O_RDONLY)
        let device = try System.device(at: AT_FDCWD, mountpoint)
        let number = " \(device >> 32):\(device & 0xffff_ffff) "
        _ = try WorkThread(name: "mounts") {
            do throws(Errno) {
                // poll(2) reports a change of the table whenever any mount comes or goes.
                repeat { try System.waitForChange(of: table.raw) } while isListed(number, in: table)
            } catch { return }  // without the watch, readers of events wait until the last file is closed
            action()
        }
    }

    private static func isListed(_ number: String, in table: FileDescriptor) -> Bool {
        do throws(Errno) {
            return String(decoding: try table.readAll(), as: UTF8.self).contains(number)
        } catch { return true }
    }
}
