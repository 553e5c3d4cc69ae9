import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// poll(2) on control files (docs/CONTROL.md, storage.pressure).
    @Suite struct PressurePollTests {
        private func wait(_ file: OpenFile, _ events: Int32, milliseconds: Int32) -> Int32 {
            var entry = pollfd(fd: file.descriptor, events: Int16(events), revents: 0)
            let count = poll(&entry, 1, milliseconds)
            return count > 0 ? Int32(entry.revents) : 0
        }
        /// Sets free space on a device of 64 MiB, whose level is low below 6.4 MiB and normal again at 7.04 MiB.
        private func setFree(_ mount: TestMount, mib: Int) throws {
            try mount.write("\(64 - mib)M", to: "storage.others")
        }

        @Test func aChangeOfTheLevelWakes() throws {
            try withMount { mount in
                let file = try OpenFile(mount.control("storage.pressure"), O_RDONLY)
                #expect(try file.read(100) == Array("normal\n".utf8))
                #expect(wait(file, POLLPRI, milliseconds: 0) & POLLPRI == 0)
                let changer = Workers.start(1) { _ in try setFree(mount, mib: 4) }
                #expect(wait(file, POLLPRI, milliseconds: 20_000) & POLLPRI != 0)
                try changer.join()
                #expect(wait(file, POLLPRI, milliseconds: 0) & POLLPRI != 0, "until it is read")
                #expect(try file.read(100) == Array("low\n".utf8))
                #expect(wait(file, POLLPRI, milliseconds: 0) & POLLPRI == 0)
            }
        }

        /// A level that has changed and changed back also wakes pollers. Each descriptor is woken independently.
        @Test func thereAndBack() throws {
            try withMount { mount in
                let first = try OpenFile(mount.control("storage.pressure"), O_RDONLY)
                let second = try OpenFile(mount.control("storage.pressure"), O_RDONLY)
                for file in [first, second] { _ = try file.read(100) }
                try setFree(mount, mib: 4)
                try setFree(mount, mib: 64)
                #expect(wait(first, POLLPRI, milliseconds: 10_000) & POLLPRI != 0)
                #expect(try first.read(100) == Array("normal\n".utf8))
                #expect(wait(first, POLLPRI, milliseconds: 0) & POLLPRI == 0)
                #expect(wait(second, POLLPRI, milliseconds: 0) & POLLPRI != 0)
            }
        }

        @Test func eventsCanBePolled() throws {
            try withMount { mount in
                let file = try OpenFile(mount.control("events"), O_RDONLY | O_NONBLOCK)
                #expect(wait(file, POLLIN, milliseconds: 0) & POLLIN == 0)
                try mount.make("tmp/f", size: 4096)
                try mount.write("tmp", to: "storage.reclaim")
                #expect(wait(file, POLLIN, milliseconds: 20_000) & POLLIN != 0)
            }
        }
    }
}
