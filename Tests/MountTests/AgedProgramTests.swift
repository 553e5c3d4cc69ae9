import Foundation
import Support
import Testing

extension Mounts {
    /// Unmodified programs on files that the clock has made older.
    @Suite struct AgedProgramTests {
        /// Runs a script in Documents of a mount, with `later` to advance the clock; `$IN` is a plain directory.
        @discardableResult
        private func output(_ script: String) throws -> String {
            try withMount(["--total", "256M"]) { mount in
                let plain = "\(mount.scratch)/plain"
                try Files.makeDirectory(plain)
                let full = """
                    set -eu; IN=\(plain); later() { echo "$1" > \(mount.root)/.purgefs/device.clock; }
                    \(script)
                    """
                return try Program.shell(full, in: mount.path("Documents"), timeout: 100).succeeded()
            }
        }

        @Test func makeBuildsWhatHasChanged() throws {
            let output = try output(
                """
                unset MAKEFLAGS MAKELEVEL  # those of the make that runs the tests
                for n in a b c; do echo $n > $n.in; done
                printf 'all: a.out b.out c.out\\n%%.out: %%.in\\n\\t@echo build $@; cp $< $@\\n' > Makefile
                make | sort; later +3w; make -q; later +1s; make -q
                echo changed > b.in; make; make -q; later +3d; make -q; touch -d '1 day ago' c.in; make; make -q
                """)
            #expect(output == "build a.out\nbuild b.out\nbuild c.out\nbuild b.out\nbuild c.out\n")
        }

        @Test func gitSeesNoChange() throws {
            try output(
                """
                git init -q . && git config user.name T && git config user.email t@t
                mkdir d; for n in $(seq 200); do echo $n > d/$n; done; git add -A; git commit -qm one
                later +3w; test -z "$(git status --porcelain)"; git diff --quiet
                echo more >> d/7; test "$(git status --porcelain)" = " M d/7"; git commit -qam two
                later +1d; test -z "$(git status --porcelain)"; git fsck --strict 2> /dev/null
                """)
        }

        /// Creates files that are 0 to 40 days old, so that some ages lie within the clock's advance and others beyond it.
        private static let makeFiles = """
            mkdir $IN/d; ln -s ../x $IN/d/link
            for n in $(seq 0 40); do echo $n > $IN/d/$n; touch -d "$n days ago" $IN/d/$n; done
            touch -d '12 days ago' $IN/d; chmod 444 $IN/d/5
            """

        /// A second rsync finds nothing to do, not even for the symbolic link.
        @Test func rsyncCopiesOnce() throws {
            try output(
                """
                \(Self.makeFiles); later +3w
                rsync -a $IN/d .; test -z "$(rsync -ai $IN/d .)"; test -z "$(rsync -aic $IN/d .)"
                rsync -a d $IN/back; test -z "$(rsync -ai d $IN/back)"; test -z "$(rsync -ai $IN/back/d $IN)"
                """)
        }

        @Test func copiesAndArchivesHaveTheTimes() throws {
            try output(
                """
                stamps() { (cd $1; stat -c '%n %y' d d/*); }
                \(Self.makeFiles); later +3w; stamps $IN > $IN/expected
                cp -Rp $IN/d .; stamps . | diff $IN/expected -
                mkdir copy; cp -a d copy; stamps copy | diff $IN/expected -
                mkdir out; tar -C $IN --format=posix -cf - d | tar -C out -xf -; stamps out | diff $IN/expected -
                mkdir $IN/out; tar --format=posix -cf $IN/a.tar d; tar -C $IN/out -xf $IN/a.tar
                stamps $IN/out | diff $IN/expected -
                test -z "$(getfattr -dR -m - . 2> /dev/null)"
                """)
        }

        @Test func listingsShowTheAge() throws {
            let output = try output(
                """
                echo old > old; mkdir folder; later +3w; echo new > new
                find . -type f -mtime +19 -mtime -22; find . -newer old -type f; find . -mindepth 1 -ctime -1
                ls -l --time-style=+%F old | cut -d' ' -f6; date -d '21 days ago' +%F
                stat -c '%.10y' old; stat -c '%.10w' old; date -d '21 days ago' +%F
                """)
            let lines = output.split(separator: "\n").map(String.init)
            #expect(lines.prefix(3) == ["./old", "./new", "./new"])
            // The day can change at midnight between two commands.
            #expect(lines.count == 8 && (Set(lines[3...]).count == 1 || lines[3] != lines[4]), "\(lines)")
        }
    }
}
