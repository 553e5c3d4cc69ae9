import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Ownership, permissions, and mounts by an ordinary user.
    @Suite struct OwnershipTests {
        private func asUser(_ script: String, in directory: String, id: Int = 65534) throws -> Outcome {
            let identity = ["setpriv", "--reuid", "\(id)", "--regid", "\(id)", "--clear-groups"]
            return try Program.run(identity + ["/bin/sh", "-c", script], in: directory)
        }

        @Test func createdFilesBelongToTheCaller() throws {
            try withMount(["--total", "64M", "--allow-other"]) { mount in
                try Files.changeMode(mount.path("Documents"), 0o777)
                let script =
                    "umask 027; cd Documents; echo x > f; mkdir d; mkfifo p; ln -s f l; ln f h; stat -c '%n %u %g %a' f d p l"
                let outcome = try asUser(script, in: mount.root)
                #expect(
                    try outcome.succeeded()
                        == "f 65534 65534 640\nd 65534 65534 750\np 65534 65534 640\nl 65534 65534 777\n")
                try Files.make(mount.path("Documents/mine"), size: 1)
                #expect(try Files.status(mount.path("Documents/mine")).st_uid == getuid())
                let stored = try Files.status("\(mount.store)/container/Documents/f")
                #expect(stored.st_uid == 65534 && stored.st_gid == 65534)
            }
        }

        /// With --allow-other, another user's process can write to the container of `run`. The directories above the
        /// container and the store stay closed to it.
        @Test(arguments: [["--allow-other"], ["-o", "allow_other"], []]) func runForAnotherUser(options: [String])
            throws
        {
            let script = """
                chmod 777 ~/Documents
                setpriv --reuid 65534 --clear-groups sh -c 'echo x > ~/Documents/a; ls ~/../../../..; ls ~/../../../../store'
                stat -c %u ~/Documents/a
                """
            let outcome = try Program.run(
                [PurgefsBinary.path, "run", "--quiet", "--total", "64M"] + options + ["--", "sh", "-c", script],
                environment: ["TMPDIR": "/var/tmp"])
            #expect(outcome.output == (options.isEmpty ? "" : "65534\n"), "\(outcome)")
        }

        @Test func accessByMode() throws {
            try withMount(["--total", "64M", "--allow-other"]) { mount in
                try mount.make("Documents/secret", size: 10)
                try Files.changeMode(mount.path("Documents/secret"), 0o600)
                try mount.makeDirectory("Documents/closed")
                try Files.changeMode(mount.path("Documents/closed"), 0o700)
                for script in [
                    "cat Documents/secret", "echo > Documents/secret", "ls Documents/closed", "echo > Documents/new",
                    "mkdir Documents/new",
                    "rm -f Documents/secret", "mv Documents/secret tmp/", "chmod 666 Documents/secret",
                    "touch -d 2001-01-01 Documents/secret",
                    "ln Documents/secret tmp/link", "truncate -s 0 Documents/secret",
                ] {
                    let outcome = try asUser(script, in: mount.root)
                    #expect(
                        outcome.status != 0
                            && (outcome.errors.contains("denied") || outcome.errors.contains("not permitted")),
                        "\(outcome)")
                }
                #expect(try Files.content(mount.path("Documents/secret")).count == 10)
                try Files.changeMode(mount.path("Documents/secret"), 0o606)
                try asUser("cat Documents/secret && echo >> Documents/secret", in: mount.root).succeeded()
            }
        }

        /// New entries in a set-group-ID directory get the group of the directory.
        @Test func setGroupID() throws {
            try withMount(["--total", "64M", "--allow-other"]) { mount in
                try mount.makeDirectory("Documents/shared")
                #expect(chown(mount.path("Documents/shared"), 0, 1234) == 0)
                try Files.changeMode(mount.path("Documents/shared"), 0o2777)
                let output = try asUser(
                    "umask 022; cd Documents/shared; echo x > f; mkdir d; stat -c '%g %a' f d", in: mount.root
                )
                .succeeded()
                #expect(output == "1234 644\n1234 2755\n")
            }
        }

        @Test func writingClearsSetuid() throws {
            try withMount(["--total", "64M", "--allow-other"]) { mount in
                for name in ["f", "g"] {
                    try mount.make("Documents/\(name)", size: 10)
                    try Files.changeMode(mount.path("Documents/\(name)"), 0o6777)
                }
                try asUser("echo x >> Documents/f; truncate -s 3 Documents/g", in: mount.root).succeeded()
                for name in ["f", "g"] {
                    #expect(try Files.status(mount.path("Documents/\(name)")).st_mode & 0o7777 == 0o777, "\(name)")
                }
            }
        }

        /// Without --allow-other, only the owner of the mount has access.
        @Test func othersAreKeptOut() throws {
            try withMount { mount throws in
                #expect(try asUser("ls \(mount.root)", in: "/").status != 0)
            }
        }

        /// Runs shell commands in an ordinary user's mount. As on a desktop, /dev/fuse is open to everybody, and
        /// mounting goes through fusermount3.
        private func inAUsersMount(_ commands: String) throws -> Outcome {
            try Scratch.with("user") { scratch in
                let place = scratch.path
                let script = """
                    set -e
                    ./purgefs mount --total 64M store mountpoint
                    trap 'fusermount3 -u mountpoint 2>/dev/null || fusermount3 -uz mountpoint' EXIT
                    cd mountpoint
                    \(commands)
                    """
                try Files.write(script, to: "\(place)/script")
                for name in ["home", "home/mountpoint"] {
                    try Files.makeDirectory("\(place)/\(name)")
                    #expect(chown("\(place)/\(name)", 65534, 65534) == 0)
                }
                try Program.run("cp", PurgefsBinary.path, "\(place)/home/purgefs").succeeded()
                let outer = "mknod -m 666 fuse c 10 229; mount --bind fuse /dev/fuse; cd home; exec \"$@\""
                let outcome = try Program.run(
                    ["unshare", "-m", "--propagation", "private", "sh", "-ec", outer, "sh"]
                        + DeviceFileTests.ordinaryUser
                        + ["env", "TMPDIR=\(place)/home", "HOME=\(place)/home", "sh", "\(place)/script"], in: place,
                    timeout: 60)
                // fusermount3 does not wait for the daemon.
                try eventually("the end of the daemon") {
                    try !Files.names(in: "/proc").contains {
                        Files.text("/proc/\($0)/environ").contains("TMPDIR=\(place)/home")
                    }
                }
                return outcome
            }
        }

        /// Changes to the device and to the app work although the daemon may not read or write some folders.
        @Test func anOrdinaryUsersDevice() throws {
            let outcome = try inAUsersMount(
                """
                mkdir tmp/closed; echo x > tmp/closed/a; chmod 500 tmp/closed
                mkdir Documents/d; echo y > Documents/d/b; chmod 000 Documents/d
                ../purgefs device lock .; ../purgefs clock advance 10s .; cat .purgefs/device.state
                ../purgefs device reboot .; ls -A tmp; ../purgefs device unlock .; cat .purgefs/device.state
                ../purgefs app launch .; ../purgefs app update .; ls -A
                ../purgefs app delete .; ls -A; ls -A ../store/container; cat .purgefs/storage.used
                ../purgefs app launch .; stat -c '%n %u %a' tmp Library/Caches; cd ..
                """)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(
                outcome.output.split(separator: "\n") == [
                    "locked", "unlocked", "Documents", "Library", "tmp", "0", "tmp 65534 755",
                    "Library/Caches 65534 755",
                ])
        }

        @Test func whatALaunchMakesBelongsToTheStoresOwner() throws {
            try withMount { mount in
                try Files.removeDirectory(mount.path("tmp"))
                #expect(chown(mount.store, 65534, 65533) == 0)
                try mount.write("launch", to: "app.state")
                let status = try Files.status(mount.path("tmp"))
                #expect(status.st_uid == 65534 && status.st_gid == 65533)
                #expect(chown(mount.store, 0, 0) == 0)
            }
        }

        /// Open files and directories can be reached by descriptor after their folder has lost its search permission.
        @Test func anOrdinaryUserReachesWhatIsOpen() throws {
            let program = """
                import os
                os.mkdir("Documents/p"); os.mkdir("Documents/p/d")
                f, d = os.open("Documents/p/f", os.O_RDWR | os.O_CREAT, 0o644), os.open("Documents/p/d", os.O_RDONLY)
                os.write(f, bytes(10000)); os.setxattr(d, "user.a", b"1"); os.chmod("Documents/p", 0)
                calls = [lambda: os.ftruncate(f, 5000), lambda: os.fchmod(f, 0o600), lambda: os.utime(f, (1, 2)),
                         lambda: os.setxattr(f, "user.a", b"2"), lambda: os.getxattr(f, "user.a"),
                         lambda: os.listxattr(f), lambda: os.fstat(f).st_size, lambda: os.fstat(f).st_mtime,
                         lambda: oct(os.fstat(d).st_mode), lambda: os.getxattr(d, "user.a"), lambda: os.fchmod(d, 0o711),
                         lambda: os.lseek(f, 0, os.SEEK_END)]
                for call in calls:
                    try: print(call())
                    except OSError as error: print(error.strerror)
                os.chmod("Documents/p", 0o755); os.close(f); os.close(d)
                """
            let outcome = try inAUsersMount(
                "cat > ../program <<'END'\n\(program)\nEND\n\(Program.python) ../program; cd ..; ./purgefs unmount mountpoint; trap - EXIT"
            )
            #expect(outcome.status == 0, "\(outcome)")
            #expect(
                outcome.output.split(separator: "\n") == [
                    "None", "None", "None", "None", "b'2'", "['user.a']", "5000", "2.0", "0o40755", "b'1'", "None",
                    "5000",
                ], "\(outcome)")
        }

        @Test func anOrdinaryUserMounts() throws {
            let outcome = try inAUsersMount(
                """
                head -c 1000000 /dev/zero > Documents/f; mkdir tmp/d; echo x > tmp/d/x; mv tmp/d Library/Caches/
                setfattr -n user.purgefs.isPurgeable -v high Documents/f
                test "$(cat .purgefs/storage.used)" = 1007616
                echo all > .purgefs/storage.reclaim
                test ! -e Documents/f; test ! -e Library/Caches/d/x; test -d Library/Caches/d
                stat -c %u .purgefs Documents Library/Caches/d
                cd ..
                ./purgefs unmount mountpoint; trap - EXIT
                ./purgefs run -- sh -c 'echo x > $HOME/Documents/x && cat $HOME/Documents/x' 2>/dev/null
                """)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.output == "65534\n65534\n65534\nx\n", "\(outcome)")
        }
    }
}
