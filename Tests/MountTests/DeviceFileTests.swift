import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Missing, replaced or inaccessible /dev/fuse. Each test has its own mount namespace, so that other tests keep the device.
    @Suite struct DeviceFileTests {
        static let ordinaryUser = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]

        private func inNamespace(_ preparation: String) -> [String] {
            ["unshare", "-m", "--propagation", "private", "/bin/sh", "-ec", "\(preparation); exec \"$@\"", "sh"]
        }

        @Test func missing() throws {
            try BadInputTests.withPlaces { store, mountpoint in
                let hide = "mkdir -p \(mountpoint)-dev; mount -t tmpfs tmpfs /dev; mknod -m 666 /dev/null c 1 3"
                let wrapper = inNamespace(hide)
                try BadInputTests.refused(
                    ["mount", store, mountpoint], status: 1, naming: ["/dev/fuse"], wrapper: wrapper)
                try BadInputTests.refused(["run", "--", "true"], status: 125, naming: ["/dev/fuse"], wrapper: wrapper)
            }
        }

        @Test func somethingElse() throws {
            try BadInputTests.withPlaces { store, mountpoint in
                try Files.write("", to: "\(mountpoint)-file")
                let wrapper = inNamespace("mount --bind \(mountpoint)-file /dev/fuse")
                try BadInputTests.refused(
                    ["mount", store, mountpoint], status: 1, naming: ["/dev/fuse"], wrapper: wrapper)
            }
        }

        @Test func noPermission() throws {
            try BadInputTests.withPlaces { store, mountpoint in
                try Program.run("chown", "65534:65534", mountpoint).succeeded()
                let node = "\(mountpoint)-fuse"
                let wrapper =
                    inNamespace("test -e \(node) || mknod -m 600 \(node) c 10 229; mount --bind \(node) /dev/fuse")
                    + Self.ordinaryUser
                let readable = "\(mountpoint)/../purgefs"
                try Program.run("cp", PurgefsBinary.path, readable).succeeded()
                try Files.makeDirectory("\(store)-parent", mode: 0o777)
                try Files.changeMode("\(store)-parent", 0o777)
                let outcome = try Program.run(
                    wrapper + [readable, "mount", "\(store)-parent/store", mountpoint], timeout: 20)
                #expect(outcome.status == 1, "\(outcome)")
                #expect(outcome.errors.contains("/dev/fuse"), "\(outcome)")
                let run = try Program.run(
                    wrapper + ["env", "TMPDIR=\(store)-parent", readable, "run", "--", "true"], timeout: 20)
                #expect(run.status == 125, "\(run)")
                #expect(run.errors.contains("/dev/fuse"), "\(run)")
            }
        }
    }
}
