import Foundation
import Support
import Testing

extension Mounts {
    /// The pytest fixture and the sh functions, tested by programs in both languages (Programs/harness*).
    @Suite struct HarnessTests {
        private static let scripts = "\(DocumentedExample.root)/mount-scripts"
        private static let programs = "\(DocumentedExample.root)/Tests/MountTests/Programs"

        /// Returns the output of `words`, and checks that no mount, process or file in TMPDIR is left.
        private func run(_ words: [String], _ more: [String: String] = [:], timeout: Double) throws -> String {
            try Scratch.with("harness") { scratch in
                try Files.makeDirectory("\(scratch.path)/tmp")
                let environment = [
                    "PURGEFS": PurgefsBinary.path, "TMPDIR": "\(scratch.path)/tmp", "PYTHONPATH": Self.scripts,
                    "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8",
                ]
                let outcome = try Program.run(
                    words, in: scratch.path, environment: environment.merging(more) { $1 }, timeout: timeout)
                #expect(MountTable.entries().filter { $0.mountpoint.hasPrefix(scratch.path) }.isEmpty)
                let left = try Files.names(in: "/proc").filter {
                    Int($0) != nil && Files.text("/proc/\($0)/cmdline").contains(scratch.path)
                }
                #expect(left == [], "processes")
                #expect(try Files.names(in: "\(scratch.path)/tmp") == [])
                return try outcome.succeeded()
            }
        }

        private func pytest(_ file: String, workers: Int, _ more: [String: String] = [:], timeout: Double) throws {
            let words = [
                Program.python, "-m", "pytest", "-q", "-p", "purgefs_pytest", "-p", "no:cacheprovider", "-n",
                "\(workers)", "--basetemp", "pytest", "\(Self.programs)/\(file)",
            ]
            let output = try run(words, more, timeout: timeout)
            #expect(output.contains(" passed in "), "\(output)")
            #expect(!output.contains("skipped"), "\(output)")
        }

        /// PURGEFS_TEST_SCALE=1 runs 20 at once.
        @Test func pythonManyAtOnce() throws {
            try pytest("harness_test.py", workers: max(10, Scale.of(20)), timeout: 300)
        }

        @Test func sweepInPython() throws { try pytest("harness_sweep_test.py", workers: 2, timeout: 300) }

        /// PURGEFS_TEST_SCALE=3 runs about 200 containers in a row.
        @Test func endsOfContainersInPython() throws {
            let count = Scale.of(67)
            try pytest(
                "harness_ends_test.py", workers: 3, ["HARNESS_COUNT": "\(count)"], timeout: 300 + Double(count))
        }

        /// Each shell runs the tests once, or PURGEFS_TEST_SCALE=1 four times in a row.
        @Test(arguments: ["dash", "bash"]) func shell(name: String) throws {
            let count = Scale.of(4)
            let output = try run(
                [name, "\(Self.programs)/harness.sh", "\(Self.scripts)/container.sh", "\(count)"],
                timeout: 120 + Double(count * 20))
            #expect(output == "\(7 * count) passed\n")
        }

        /// PURGEFS_TEST_SCALE=1 runs 20 shells at once.
        @Test func shellsAtOnce() throws {
            let count = max(3, Scale.of(20))
            let script = """
                for each in $(seq \(count)); do sh "$1/harness.sh" "$2/container.sh" & all="$all $!"; done
                for each in $all; do wait $each || exit 1; done
                """
            let output = try run(["sh", "-c", script, "sh", Self.programs, Self.scripts], timeout: 300)
            #expect(output == String(repeating: "7 passed\n", count: count))
        }
    }
}
