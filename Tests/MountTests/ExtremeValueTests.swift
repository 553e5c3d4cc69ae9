import Foundation
import Support
import Testing

extension Mounts {
    /// Numbers at the ends of their ranges, in every call that takes one (Programs/extremes.py).
    @Suite struct ExtremeValueTests {
        private struct Report: Decodable {
            var calls: Int
            var failures: [String]
        }

        private static let program =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Programs/extremes.py")
            .path

        @Test(arguments: [false, true]) func everyNumber(asOrdinaryUser: Bool) throws {
            try withMount(["--total", "64M", "--allow-other"], deadline: 500) { mount in
                let (mounted, plain) = (mount.path("Documents/x"), "\(mount.store)-plain")
                let report = "\(plain)/report.json"
                for directory in [mounted, plain] {
                    try Files.makeDirectory(directory)
                    try Files.changeMode(directory, 0o777)
                }
                try mount.turnThresholdsOff()
                let user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
                let arguments = [Program.python, Self.program, mounted, plain, report]
                let outcome = try Program.run(
                    asOrdinaryUser ? user + arguments : arguments + [mount.path(".purgefs")], timeout: 400)
                try outcome.succeeded()
                let found = try JSONDecoder().decode(Report.self, from: Data(Files.content(report)))
                for failure in found.failures { Issue.record("\(failure)") }
                #expect(found.calls >= 5000)
                print("\(found.calls) calls with extreme numbers")
                #expect(try Files.chargedTree(mount.root) == mount.number("storage.used"))
                try mount.unmount()
                try Program.run(PurgefsBinary.path, "check", mount.store).succeeded()
            }
        }
    }
}
