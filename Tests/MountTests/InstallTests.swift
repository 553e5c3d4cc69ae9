import Foundation
import Support
import Testing

extension Mounts {
    /// `make install`, `make uninstall`, and the `install` script of the tarball.
    @Suite struct InstallTests {
        private func make(_ target: String, _ settings: String..., into place: String) throws {
            try Program.run(
                ["make", "-C", DocumentedExample.root, target, "BINARY=\(PurgefsBinary.path)", "DESTDIR=\(place)"]
                    + settings
            ).succeeded()
        }

        private func files(_ place: String) throws -> [String] {
            try Program.run("find", place, "-mindepth", "1", "!", "-type", "d", "-printf", "%m %P\n").succeeded()
                .split(separator: "\n").map(String.init).sorted()
        }

        /// Checks that links of installed pages lead to installed files.
        private func checkLinks(in folder: String) throws {
            let pages = ["README.md"] + (try Files.names(in: "\(folder)/docs").map { "docs/\($0)" })
            #expect(pages.count > 20)
            for page in pages where page.hasSuffix(".md") {
                for match in Files.text("\(folder)/\(page)").matches(of: /\]\(([^)#]+)[^)]*\)/) {
                    let link = String(match.1)
                    if link.hasPrefix("http") { continue }
                    let base = page.hasPrefix("docs/") ? "docs/" : ""
                    #expect(Files.exists("\(folder)/\(base)\(link)"), "\(page): \(link)")
                }
            }
        }

        private func target(_ link: String) throws -> String {
            try FileManager.default.destinationOfSymbolicLink(atPath: link)
        }

        /// The tarball installs its files on a system where folders of /usr/local are symbolic links.
        @Test func tarballInstallsThroughLinks() throws {
            try Scratch.with("tarball") { scratch in
                let (archive, place) = ("\(scratch.path)/archive", "\(scratch.path)/root")
                try make("install", "PREFIX=/", into: archive)
                try Program.run("cp", "\(DocumentedExample.root)/mount-scripts/install-tarball", "\(archive)/install")
                    .succeeded()
                try Files.makeDirectory(place)
                try Program.shell(
                    "mkdir -p usr/local/bin usr/local/share usr/local/man sbin && ln -s bin usr/local/sbin && "
                        + "ln -s ../man usr/local/share/man && mkdir usr/local/share/other",
                    in: place
                ).succeeded()
                let environment = ["DESTDIR": place]
                try Program.run(["\(archive)/install"], in: "/", environment: environment).succeeded()
                let found = try files(place)
                for name in [
                    "755 usr/local/bin/purgefs", "755 usr/local/bin/mount.purgefs", "644 usr/local/man/man1/purgefs.1",
                    "644 usr/local/share/doc/purgefs/README.md", "644 usr/local/lib/systemd/system/purgefs@.service",
                ] { #expect(found.contains(name), "\(name)") }
                #expect(try target("\(place)/sbin/mount.purgefs") == "/usr/local/sbin/mount.purgefs")
                #expect(try target("\(place)/usr/local/sbin") == "bin")

                try Program.run(["\(archive)/install", "--remove"], in: "/", environment: environment).succeeded()
                #expect(try files(place).filter { !$0.hasPrefix("777") } == [])
                #expect(try Files.names(in: "\(place)/sbin") == [] && Files.exists("\(place)/usr/local/share/other"))
                #expect(try Program.run("\(archive)/install", "nonsense").status == 64)
            }
        }

        /// `--remove` deletes the folders that the installation created, if nothing else is in them. DESTDIR is relative to the
        /// caller's directory.
        @Test func tarballLeavesNothing() throws {
            try Scratch.with("tarball") { scratch in
                let archive = "\(scratch.path)/archive"
                try make("install", "PREFIX=/", into: archive)
                try Program.run("cp", "\(DocumentedExample.root)/mount-scripts/install-tarball", "\(archive)/install")
                    .succeeded()
                let before = try files(archive)
                let script = """
                    mkdir -p 'a root/usr/local/etc' && ../archive/install && test -x 'a root/usr/local/bin/purgefs'
                    ../archive/install && echo theirs > 'a root/usr/local/share/man/man1/other.1'
                    ../archive/install --remove && cd 'a root' && find . -mindepth 1 | sort
                    """
                try Files.makeDirectory("\(scratch.path)/here")
                let outcome = try Program.run(
                    ["sh", "-ec", script], in: "\(scratch.path)/here", environment: ["DESTDIR": "a root"])
                let left = [
                    "", "/local", "/local/etc", "/local/share", "/local/share/man", "/local/share/man/man1",
                    "/local/share/man/man1/other.1",
                ]
                #expect(outcome.output == left.map { "./usr\($0)\n" }.joined(), "\(outcome)")
                #expect(try files(archive) == before)
            }
        }

        /// pip installs the plugin without writing beside it. A project that names or contains the plugin still works.
        @Test func pipInstallsThePlugin() throws {
            try Scratch.with("pip") { scratch in
                let place = "\(scratch.path)/root"
                try make("install", "PREFIX=/usr", into: place)
                let before = try files(place)
                let script = """
                    "$0" -m venv --system-site-packages env
                    env/bin/python -m pip install --quiet --no-index --no-build-isolation root/usr/share/purgefs
                    echo 'def test(container): assert container.caches.exists()' > test_app.py
                    env/bin/python -m pytest -q test_app.py
                    echo 'pytest_plugins = ["purgefs_pytest"]' > conftest.py
                    env/bin/python -m pytest -q test_app.py
                    cp root/usr/share/purgefs/purgefs_pytest.py .
                    env/bin/python -m pytest -q test_app.py
                    echo "purgefs $(env/bin/python -c 'from importlib.metadata import version as of
                    print(of("purgefs-pytest"))')"
                    """
                let outcome = try Program.run(
                    ["sh", "-ec", script, Program.python], in: scratch.path,
                    environment: ["PURGEFS": PurgefsBinary.path, "PYTHONPATH": ""], timeout: 300)
                #expect(try outcome.succeeded().hasSuffix("\n" + PurgefsBinary.run("--version").succeeded()))
                #expect(try files(place) == before)
            }
        }

        private func checkUnits(in folder: String, _ prefix: String) {
            let unit = Files.text("\(folder)/system/purgefs@.service")
            #expect(unit.contains("=\(prefix)/bin/purgefs ") && !unit.contains("@BINDIR@"))
            let userUnit = Files.text("\(folder)/user/purgefs@.service")
            #expect(userUnit.contains("EnvironmentFile=%E/purgefs/%i.conf") && !userUnit.contains("@BINDIR@"))
            #expect(userUnit.contains("WantedBy=default.target") && !userUnit.contains("StateDirectory"))
        }

        @Test(arguments: ["/usr/local", "/opt/purgefs-1.0"]) func installAndUninstall(prefix: String) throws {
            try Scratch.with("install") { scratch in
                let place = "\(scratch.path)/root"
                try make("install", "PREFIX=\(prefix)", into: place)
                let found = try files(place).map { $0.replacing("\(prefix.dropFirst())/", with: "") }
                let expected = [
                    "755 bin/purgefs", "755 sbin/mount.purgefs", "644 lib/systemd/system/purgefs@.service",
                    "644 lib/systemd/user/purgefs@.service",
                    "644 share/man/man1/purgefs.1", "644 share/man/man8/mount.purgefs.8",
                    "644 share/bash-completion/completions/purgefs", "644 share/zsh/site-functions/_purgefs",
                    "644 share/fish/vendor_completions.d/purgefs.fish", "644 share/purgefs/container.sh",
                    "644 share/purgefs/purgefs_pytest.py", "644 share/purgefs/pyproject.toml",
                    "644 share/purgefs/setup.py", "644 share/doc/purgefs/README.md",
                    "644 share/doc/purgefs/LICENSE", "644 share/doc/purgefs/CHANGELOG.md",
                ]
                for name in expected { #expect(found.contains(name), "\(name)") }
                let others = found.filter { !expected.contains($0) }
                #expect(
                    others.allSatisfy {
                        $0.hasPrefix("644 share/doc/purgefs/docs/")
                            && ($0.hasSuffix(".md") || $0.hasSuffix("/picture.svg"))
                    }, "\(others)")

                checkUnits(in: "\(place)\(prefix)/lib/systemd", prefix)
                let man = Files.text("\(place)\(prefix)/share/man/man1/purgefs.1")
                #expect(man == (try PurgefsBinary.run("generate", "man").succeeded()))
                let mounting = Files.text("\(place)\(prefix)/share/man/man8/mount.purgefs.8")
                #expect(mounting == (try PurgefsBinary.run("generate", "man8").succeeded()))
                #expect(
                    Files.text("\(place)\(prefix)/share/zsh/site-functions/_purgefs").hasPrefix("#compdef purgefs\n"))

                try checkLinks(in: "\(place)\(prefix)/share/doc/purgefs")

                try make("uninstall", "PREFIX=\(prefix)", into: place)
                #expect(try files(place) == [])
            }
        }
    }
}
