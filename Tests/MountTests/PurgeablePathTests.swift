import Support
import Testing

extension Mounts {
    /// The functions of mPaaS's storage kit for an app in C (docs/CONTAINERSTORAGE.md, mPaaS).
    @Suite struct PurgeablePathTests {
        /// Compiles Programs/purgeable_paths.c as `language` with the header alone, and returns the program.
        private func build(in scratch: Scratch, as language: String = "c") throws -> String {
            let (root, program) = (DocumentedExample.root, "\(scratch.path)/app")
            try Program.run(
                "cc", "-x", language, "-Wall", "-Wextra", "-Werror", "-I", "\(root)/Sources/CContainerCalls", "-o",
                program, "\(root)/Tests/MountTests/Programs/purgeable_paths.c"
            ).succeeded()
            return program
        }

        private static func told(_ home: String, link: String, file: String) -> [String] {
            [
                "plain: \(home)/Documents/feed/plain", "type: \(home)/Library/Caches/week",
                "size: \(home)/Library/Caches/large", "again: \(home)/Library/Caches/large",
                "less: \(home)/Documents/less", "no size: \(home)/Documents/less", "absolute: Invalid argument",
                "up: Invalid argument", "empty: Invalid argument", "link: \(link)", "file: \(file)",
                "days: Invalid argument",
            ]
        }

        /// In a container, each function makes its folder and gives it the policy. A call that changes nothing leaves no event.
        @Test(arguments: ["c", "c++"]) func inAContainer(language: String) throws {
            try Scratch.with("paths") { scratch in
                let program = try build(in: scratch, as: language)
                let script = """
                    cd ~; ln -s /etc Documents/link; touch Documents/file; echo $HOME; $APP; $P policy list --json
                    echo x > Documents/less/a; echo x > Library/Caches/week/a; echo x > Documents/a; $APP reset
                    find . -name a
                    """
                let outcome = try Program.run(
                    [
                        PurgefsBinary.path, "run", "--quiet", "--events", "\(scratch.path)/events", "--", "sh", "-ec",
                        script,
                    ], environment: ["APP": program, "P": PurgefsBinary.path])
                var lines = try outcome.succeeded().split(separator: "\n").map(String.init)
                let home = lines.removeFirst()
                #expect(
                    lines == Self.told(home, link: "Not a directory", file: "Not a directory") + [
                        #"{"path":"Documents/feed/plain","purgeAfter":"0","used":0,"files":0}"#,
                        #"{"path":"Documents/less","purgeAfter":"2w","used":0,"files":0}"#,
                        #"{"path":"Library/Caches/large","purgeAfter":"3d","sizeLimit":10485760,"used":0,"files":0}"#,
                        #"{"path":"Library/Caches/week","purgeAfter":"1w","used":0,"files":0}"#, "./Documents/a",
                    ])
                let events = try StoreEvent.lines(Files.text("\(scratch.path)/events")).filter { $0.type == "policy" }
                #expect(
                    events.map(\.reason) == [
                        "purgeAfter=0", "purgeAfter=1w", "purgeAfter=3d", "sizeLimit=10485760", "purgeAfter=30d",
                        "sizeLimit=1048576", "purgeAfter=2w", "sizeLimit=removed", "reset",
                    ])
            }
        }

        /// Outside a container, the functions make folders and set no attribute.
        @Test func elsewhere() throws {
            try Scratch.with("paths") { scratch in
                let (program, home) = (try build(in: scratch), "\(scratch.path)/home")
                try Files.makeDirectory(home)
                let outcome = try Program.run(
                    [program], environment: ["HOME": home, "CFFIXED_USER_HOME": ""])
                #expect(
                    try outcome.succeeded().split(separator: "\n").map(String.init)
                        == Self.told(home, link: "\(home)/Documents/link/x", file: "\(home)/Documents/file/x"))
                for name in ["Documents/feed/plain", "Library/Caches/large"] {
                    #expect(try Program.run("getfattr", "-d", "\(home)/\(name)").succeeded() == "")
                }
                try Program.run([program, "reset"], environment: ["HOME": home, "CFFIXED_USER_HOME": ""]).succeeded()
            }
        }
    }
}
