import Support
import Testing

extension Mounts {
    /// Paths are bytes, and Swift strings are Unicode. A path that is not valid UTF-8 is refused, and never becomes
    /// another path.
    @Suite struct PathTextTests {
        private func run(_ script: String) throws -> Outcome {
            try Scratch.with("text") { scratch in
                let environment = ["env", "PURGEFS=\(PurgefsBinary.path)", "LC_ALL=C"]
                return try Program.run(environment + ["sh", "-c", script], in: scratch.path, timeout: 60)
            }
        }

        /// `bad` is not valid UTF-8. `twin` has U+FFFD in place of the invalid byte.
        private static let names = """
            out=$PWD; mkdir tree; cd tree
            bad=$(printf 'a\\377b'); twin=$(printf 'a\\357\\277\\275b')
            mkdir mountpoint "$bad" "$bad/m" "$twin" "$twin/m" "$twin/s"
            list() { find . -printf '%p %m %s %T@ %C@\\n' | sort; }

            """

        @Test func pathsThatAreNotUTF8() throws {
            let outcome = try run(
                Self.names + """
                    ln -s "$bad" link; list > "$out/before"
                    refused() { "$@" > "$out/said" 2>&1; [ $? = 1 ] && grep -q UTF-8 "$out/said" || echo "$* $(cat "$out/said")"; }
                    refused "$PURGEFS" mount "$bad/s" mountpoint
                    refused "$PURGEFS" mount "$bad" mountpoint
                    refused "$PURGEFS" mount store "$bad/m"
                    refused "$PURGEFS" mount store link/m
                    refused "$PURGEFS" mount link/s mountpoint
                    refused "$PURGEFS" mount --log "$bad/log" store mountpoint
                    for verb in status check unmount 'purge --all' 'mark --purgeable' 'set storage.total=1G'; do
                        refused "$PURGEFS" $verb "$bad/s"
                    done
                    cd "$bad"
                    refused "$PURGEFS" mount s m
                    PURGEFS_MOUNT="$bad" refused "$PURGEFS" status
                    cd ..; list | diff "$out/before" -; grep -F "$PWD" /proc/self/mountinfo
                    "$PURGEFS" run --quiet printf 'a\\377b' | od -An -tx1
                    """)
            #expect(outcome.output == " 61 ff 62\n", "\(outcome)")
        }

        /// Paths that look the same but differ in their bytes are different paths. The test uses an accented letter in its two
        /// Unicode forms, and a name that begins with a combining mark.
        @Test func pathsThatOnlyLookTheSame() throws {
            let outcome = try run(
                """
                one=$(printf '\\303\\251'); two=$(printf 'e\\314\\201'); mark=$(printf '\\314\\201')
                mkdir "$one" "$two"; "$PURGEFS" mount store "$one"
                "$PURGEFS" unmount "$two" 2>&1 | grep -o 'no container is mounted there'
                touch "$one/${mark}x"; "$PURGEFS" mark "$one/${mark}x" --purgeable; echo $?
                "$PURGEFS" mount "$two/${mark}store" "$two" 2>&1 | grep -o 'is at or below the mount point'
                "$PURGEFS" unmount "$one"; echo $?; "$PURGEFS" unmount --force "$two" 2> /dev/null
                "$PURGEFS" mark "store/container/${mark}x" --not-purgeable; echo $?
                """)
            #expect(
                outcome.output
                    == "no container is mounted there\n0\nis at or below the mount point\n0\n0\n", "\(outcome)")
        }
    }
}
