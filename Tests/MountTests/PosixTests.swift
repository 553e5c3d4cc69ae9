import Support
import Testing

extension Mounts {
    /// The requirements of POSIX and Linux for files (docs/POSIX.md). The checks of Programs/posix_*.py run on a mount and in a
    /// plain directory beside the store.
    @Suite struct PosixTests {
        /// Passes `body` an empty directory on a mount that admits other users, and one beside the store.
        private func withBoth(
            _ options: [String] = [], on backing: Backing = .ext4,
            _ body: (_ mount: TestMount, _ mounted: String, _ plain: String) throws -> Void
        ) throws {
            try withMount(["--total", "512M", "--allow-other"] + options, on: backing, deadline: 1300) { mount in
                let (mounted, plain) = (mount.path("Documents/posix"), "\(mount.store)-plain")
                for directory in [mounted, plain] { try Files.makeDirectory(directory) }
                try body(mount, mounted, plain)
            }
        }

        @Test func everyCheckAgrees() throws {
            try withBoth { mount, mounted, plain in
                try PosixReport(mounted: mounted, plain: plain, scratch: mount.scratch).expectAgreement(atLeast: 320)
            }
        }

        /// Runs the checks that depend on the file system of the store, on each kind but ext4. `make long` adds checks of
        /// permissions, modes and names, which the kernel answers in the same way on every kind.
        @Test(arguments: Backing.allCases.filter { $0 != .ext4 })
        func storesOnOtherFileSystems(backing: Backing) throws {
            try withBoth(on: backing) { mount, mounted, plain in
                let isFull = Scale.factor >= 1
                let report = try PosixReport(
                    mounted: mounted, plain: plain,
                    only: "^(chown|setid_cleared|setid_directory|acl|temporary|unlinked|append"
                        + (isFull ? "|permission|chmod|name)_" : ")_"),
                    scratch: mount.scratch)
                report.expectAgreement(atLeast: isFull ? 60 : 45)
            }
        }

        /// With `-o suid,dev`, which root may use, set-user-ID programs and devices work as in a plain directory.
        @Test func setuidProgramsAndDevicesWhereTheyAreAllowed() throws {
            try withBoth(["-o", "suid,dev"]) { mount, mounted, plain in
                let report = try PosixReport(
                    mounted: mounted, plain: plain, table: nil, only: "^device_nodes|^programs_",
                    scratch: mount.scratch)
                report.expectAgreement(atLeast: 4)
            }
        }

        @Test func readOnlyMount() throws {
            try withBoth { mount, mounted, plain in
                let prepare = [Program.python, PosixReport.program, mounted, plain, "--readonly", "prepare"]
                try Program.run(prepare).succeeded()
                try mount.remount(["--allow-other", "-o", "ro"])
                let report = try PosixReport(
                    mounted: mounted, plain: plain, readOnly: "check", scratch: mount.scratch)
                report.expectAgreement(atLeast: 4)
            }
        }
    }
}
