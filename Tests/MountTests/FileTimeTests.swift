import Foundation
import Support
import Testing

extension Mounts {
    /// What programs see of the times of files after the clock was advanced.
    @Suite struct FileTimeTests {
        private static let program =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Programs/file_times.py").path

        /// Against a model, over several mounts of one store, on each file system below.
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
