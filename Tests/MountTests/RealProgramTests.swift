import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// Unmodified programs, which do the same on a mount as in a plain directory.
    @Suite struct RealProgramTests {
        /// The output and the files of a script. In the output, `ROOT` stands for the path of the directory.
        private struct Result {
            var status: Int32
            var output: String
            /// Type, mode, owner, link count, target and size of each entry.
            var listing: String
        }

        private func run(_ script: String, in directory: String) throws -> Result {
            let outcome = try Program.shell(script, in: directory, timeout: 240)
            let listing = try Program.shell(
                "find . -printf '%P %y %m %U:%G %n %l' -a \\( -type f -printf ' %s\\n' -o -printf '\\n' \\) | sort",
                in: directory
            ).succeeded()
            return Result(
                status: outcome.status, output: hiding(directory, outcome.output + outcome.errors), listing: listing)
        }

        /// Returns the lines that only one of the two outputs has.
        private func changes(_ found: String, _ expected: String) -> [String] {
            let difference = found.split(separator: "\n").difference(from: expected.split(separator: "\n"))
            return difference.map { change in
                switch change {
                case .insert(_, let line, _): "on the mount: \(line)"
                case .remove(_, let line, _): "in a plain directory: \(line)"
                }
            }
        }

        private func hiding(_ directory: String, _ text: String) -> String {
            text.components(separatedBy: directory).joined(separator: "ROOT")
        }

        /// Runs `script` in Documents of a mount and in a plain directory. Expects the same outcome, and the same files after a
        /// remount.
        private func compare(_ script: String, ignoring: String = "^$", prepare: String = ":") throws {
            try Scratch.with("plain") { scratch in
                try withMount(["--total", "2G"], deadline: 500) { mount in
                    try Program.shell(prepare, in: mount.scratch, timeout: 240).succeeded()
                    let plain = "\(scratch.path)/work"
                    let mounted = mount.path("Documents/work")
                    for directory in [plain, mounted] { try Files.makeDirectory(directory) }
                    let full = "IN=\(mount.scratch); \(script)"
                    let expected = try run(full, in: plain)
                    let found = try run(full, in: mounted)
                    #expect(found.status == 0)
                    #expect(found.status == expected.status)
                    #expect(changes(found.output, expected.output) == [], "what it says")
                    #expect(changes(found.listing, expected.listing) == [], "what it leaves")
                    let difference = try Program.run(
                        ["diff", "-r", "--no-dereference", "-I", ignoring, plain, mounted], timeout: 120)
                    #expect(difference.status == 0, "\(difference.output.prefix(4000))")
                    try mount.remount()
                    let again = try Program.run(
                        ["diff", "-r", "--no-dereference", "-I", ignoring, plain, mounted], timeout: 120)
                    #expect(again.status == 0, "after a remount: \(again.output.prefix(4000))")
                }
            }
        }

        /// Creates a repository of thousands of objects, packed and loose, with links and modes.
        static let makeRepository = """
            git init -q -b main repository && cd repository && git config user.name T && git config user.email t@t &&
            git config gc.auto 0 && mkdir -p a/b c && ln -s ../a c/link &&
            for round in 1 2 3; do
              for n in $(seq 1 700); do echo "$round $n" > a/f$n; echo "$n $round" > a/b/g$n; done
              echo x > c/run; chmod +x c/run; git add -A; git commit -qm "round $round" --date '2024-01-01T00:00:00Z'
              test $round = 2 && git repack -qad
            done; git count-objects -v
            """

        @Test func gitCloneAndFsck() throws {
            let script = """
                git clone -q --no-hardlinks $IN/repository clone && cd clone && git fsck --full --strict &&
                git status --porcelain && git log --format=%H | wc -l && git checkout -q HEAD~1 && git checkout -q main &&
                git fsck --full && git count-objects | cut -d, -f1; rm -rf .git/index .git/logs .git/hooks
                """
            try compare(script, prepare: Self.makeRepository)
        }

        @Test func gitWritesThousandsOfObjects() throws {
            let script = """
                export GIT_AUTHOR_DATE=2024-01-01T00:00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00:00Z
                { \(Self.makeRepository)
                } && git fsck --full --strict && git gc -q && git fsck --full && git rev-parse HEAD &&
                rm -rf .git/index .git/objects/pack/*.idx
                """
            try compare(script)
        }

        @Test func sqliteWithWAL() throws {
            let script = """
                sqlite3 a.db "PRAGMA journal_mode=WAL; CREATE TABLE t(i INTEGER PRIMARY KEY, v BLOB);" &&
                for n in 1 2 3 4; do
                  sqlite3 a.db "PRAGMA busy_timeout=60000; WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c \
                WHERE i<2000) INSERT INTO t(v) SELECT zeroblob(500) FROM c;" > /dev/null & done; wait
                sqlite3 a.db "PRAGMA integrity_check; SELECT count(*), sum(length(v)) FROM t; DELETE FROM t WHERE i%3=0;
                VACUUM; PRAGMA integrity_check; SELECT count(*) FROM t;" && sqlite3 a.db .dump | sort | md5sum; ls; rm a.db
                """
            try compare(script)
        }

        @Test func sqliteWithRollbackJournalAndMappedReads() throws {
            let script = """
                sqlite3 a.db "PRAGMA journal_mode=DELETE; PRAGMA mmap_size=100000000; CREATE TABLE t(i, v);
                WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<20000)
                INSERT INTO t SELECT i, 'value ' || i FROM c; CREATE INDEX x ON t(v); PRAGMA integrity_check;
                BEGIN; DELETE FROM t; ROLLBACK; SELECT count(*) FROM t; PRAGMA integrity_check;"
                """
            try compare(script)
        }

        /// Creates folders, modes, links of both kinds, holes, a fifo, attributes and odd names.
        static let makeTree = """
            mkdir -p tree/deep/er 'tree/with blank' tree/empty && cd tree && seq 1 50000 > numbers && echo x > deep/er/x &&
            ln numbers deep/hard && ln -s ../numbers deep/soft && ln -s nowhere dangling && mkfifo fifo &&
            truncate -s 1M sparse && echo end >> sparse && : > empty/file && chmod 4711 deep/er/x && chmod 1777 empty &&
            chmod 400 numbers && touch -d '2001-02-03 04:05:06.789' deep/er/x && chown 1234:4321 sparse &&
            printf 1 > "$(printf 'newline\\nand\\ttab')" && setfattr -n user.key -v value numbers &&
            setfattr -n user.empty sparse && setfattr -n user.binary -v 0x00ff00 deep &&
            find . ! -name x -exec touch -h -d '2011-12-13 14:15:16.171819' {} +
            """
        /// Prints times and attributes, which `diff` does not compare.
        static let showMore = """
            cd tree; find . -printf '%P %T@\\n' | sort; getfattr -dRh -m user. -e hex . | grep -v '^$'; cd ..
            """

        @Test func tarPacksAndUnpacks() throws {
            let script = """
                tar -C $IN --xattrs -cf a.tar tree && tar --xattrs -xpf a.tar && \(Self.showMore) &&
                tar --xattrs -df a.tar && tar --xattrs --sort=name -cf - tree | tar -tvf - ; rm a.tar tree/fifo
                """
            try compare(script, prepare: Self.makeTree)
        }

        @Test func rsyncWithAttributes() throws {
            let script = """
                rsync -aXH $IN/tree . && \(Self.showMore) && rsync -aXHni --delete $IN/tree . &&
                rm -r tree/deep && echo more >> tree/empty/file && rsync -aXH --delete $IN/tree . && \(Self.showMore) &&
                rsync -aXHnic --delete $IN/tree . && rm tree/fifo
                """
            try compare(script, prepare: Self.makeTree)
        }

        @Test func copyOfATree() throws {
            let script = "cp -a $IN/tree . && cp -a tree second && (\(Self.showMore)) && diff -r tree second 2>&1"
            try compare(script, prepare: "\(Self.makeTree); rm fifo dangling")
        }

        @Test func removalOfATree() throws {
            let script =
                "cp -r $IN/tree . && mv tree/deep tree/moved && mv tree other && rm -rf other/moved && ls -R other"
            try compare(script, prepare: "\(Self.makeTree); rm fifo")
        }

        /// Scripts and settings of the environment contain its path, which is replaced before the comparison. `make long` also
        /// installs pip there.
        @Test func pythonVirtualEnvironment() throws {
            let (option, pip) =
                Scale.factor < 1
                ? ("--without-pip", "")
                : (
                    "",
                    """
                    env/bin/python -m pip --version | cut -d' ' -f1,2 && find env -name __pycache__ -prune -exec rm -r {} + &&
                    sed -i '/bin.pip/d' env/lib/python*/site-packages/pip-*/RECORD &&
                    """
                )
            let script = """
                python3 -m venv \(option) env && env/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)' &&
                \(pip) grep -rlI "$PWD" . | xargs sed -i "s|$PWD|ROOT|g"
                """
            try compare(script)
        }

        @Test func compilerAndArchiver() throws {
            let script = """
                for n in 1 2 3 4 5 6; do echo "int f$n(int x) { return x + $n; }" > f$n.c; done
                echo 'int f1(int); int f6(int); int main(void) { return f6(f1(0)) - 7; }' > main.c
                for f in *.c; do gcc -c $f & done; wait; ar rcsD libf.a f*.o && gcc -o main main.o -L. -lf && ./main && strip main
                """
            try compare(script)
        }
    }
}
