import Foundation
import Glibc
import Support
import Synchronization
import Testing

extension Mounts {
    /// File times that programs see after the clock was advanced.
    @Suite struct FileTimeTests {
        private static let programs = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Programs").path
        private static let program = "\(programs)/file_times.py"

        /// Times agree with a model, across several mounts of one store, on each backing file system.
        @Test(arguments: Backing.allCases) func againstAModel(backing: Backing) throws {
            try withMount(["--total", "256M"], on: backing) { mount in
                let state = "\(mount.scratch)/state.json"
                for round in 1...3 {
                    let outcome = try Program.run(
                        Program.python, Self.program, mount.root, state, "\(round)", "\(Scale.of(600))")
                    #expect(outcome.status == 0, "\(backing), round \(round): \(outcome.errors)")
                    guard outcome.status == 0 else { return }
                    try mount.remount()
                }
                try mount.unmount()
                try Program.run(PurgefsBinary.path, "check", mount.store).succeeded()
            }
        }

        /// The range of times equals the backing file system's, before and after an advance and across a remount.
        @Test(arguments: Backing.allCases) func atTheEndsOfTheRange(backing: Backing) throws {
            try withMount(["--total", "64M"], on: backing) { mount in
                let plain = "\(mount.store)-plain"
                try Files.makeDirectory(plain)
                func run(_ phase: String, ahead: Int) throws {
                    let outcome = try Program.run(
                        Program.python, "\(Self.programs)/time_ends.py", mount.path("Documents"), plain, phase,
                        "\(ahead)")
                    #expect(
                        outcome.status == 0, "\(backing), \(phase): \(outcome.output.prefix(2000)) \(outcome.errors)")
                }
                try run("set", ahead: 0)
                try mount.write("+3d", to: "device.clock")
                try run("check", ahead: 3 * 86400)
                try run("set", ahead: 0)
                try mount.write("+5s", to: "device.clock")
                try mount.remount()
                try run("check", ahead: 5)
            }
        }

        /// Times stay right while the kernel caches attributes and other calls read and change them, except for calls that are
        /// under way during the first advance of a device (docs/CLOCK.md).
        @Test func besideOtherCalls() throws {
            try withMount(["--total", "64M"]) { mount in
                let paths = (0..<40).map { "tmp/\($0)" }
                for path in paths { try mount.make(path, size: 1) }
                try mount.write("+100s", to: "device.clock")
                @Sendable func modified() throws -> [Int] {
                    try paths.map { try Files.status(mount.path($0)).st_mtim.tv_sec }
                }
                let before = try modified()
                let ends = Atomic<Bool>(false)
                try Workers.run(4) { worker in
                    if worker == 0 {
                        defer { ends.store(true, ordering: .relaxed) }
                        for round in 1...60 {
                            try mount.write("+100s", to: "device.clock")
                            #expect(try modified() == before.map { $0 - 100 * round }, "round \(round)")
                        }
                    }
                    var next = worker
                    while worker > 0, !ends.load(ordering: .relaxed) {
                        next = (next + 7) % paths.count
                        let path = mount.path(paths[next])
                        switch worker {
                        case 1: try Files.changeMode(path, 0o600 + mode_t(next % 8))
                        case 2: _ = try Files.names(in: mount.path("tmp"))
                        default:
                            try Files.link(path, path + "-linked")
                            _ = try Files.status(path + "-linked")
                            try Files.unlink(path + "-linked")
                        }
                    }
                }
            }
        }

        /// A user's daemon may set the times of a file that the user may not write to.
        @Test func inAnOrdinaryUsersMount() throws {
            try Scratch.with("times") { scratch in
                let script = """
                    chmod 777 .; mkdir point; chown 65534 point; cp "$P" purgefs; P=$PWD/purgefs
                    U='setpriv --reuid 65534 --regid 65534 --clear-groups'
                    cp "$PROGRAM" times.py; mknod -m 666 fuse c 10 229; mount --bind fuse /dev/fuse
                    for round in 1 2 3; do
                        $U $P mount --total 256M store point || exit 99
                        $U $PY times.py point $PWD/state.json $round 700; status=$?
                        $U fusermount3 -u point || $U fusermount3 -u -z point
                        flock -w 30 store true; [ $status = 0 ] || exit $status
                    done
                    """
                try Program.run(
                    ["unshare", "--mount", "--propagation", "private", "sh", "-c", script], in: scratch.path,
                    environment: ["P": PurgefsBinary.path, "PROGRAM": Self.program, "PY": Program.python], timeout: 120
                ).succeeded()
            }
        }
    }
}
