import Glibc
import Support
import Testing

extension Mounts {
    /// Places of stores and mount points. A forbidden place is refused before anything is created.
    @Suite struct PlaceTests {
        /// Runs `body` with a store `outer` that is mounted at `app`. Beside them are an empty directory `free`, a link to the
        /// container's `tmp`, and bind mounts of the store, of two folders in it, and of a folder in the mount.
        private func withContainer(_ body: (_ place: String) throws -> Void) throws {
            try Scratch.with("places") { scratch in
                let place = scratch.path
                let bound = [("outer", "whole"), ("outer/container", "inside"), ("outer/container/tmp", "part")]
                try Program.shell("mkdir app free whole inside part view", in: place).succeeded()
                try PurgefsBinary.run("mount", "--total", "64M", "outer", "app", in: place).succeeded()
                let result = Result {
                    try Program.shell("mkdir app/tmp/point app/Documents/d; ln -s app/tmp link", in: place).succeeded()
                    for (what, at) in bound + [("app/Documents", "view")] {
                        try Program.run("mount", "--bind", "\(place)/\(what)", "\(place)/\(at)").succeeded()
                    }
                    try body(place)
                }
                for at in bound.map(\.1) + ["view"] { _ = try Program.run("umount", "\(place)/\(at)") }
                try PurgefsBinary.run("unmount", "app", in: place).succeeded()
                try result.get()
            }
        }

        @Test func refusedBeforeAnythingIsMade() throws {
            let inContainer = ["app/tmp/new", "app/Documents/d", "link/new", "free/../app/new", "view/new", "view/d"]
            let inStore = [
                "outer/container/tmp/new", "outer/new", "outer/container/Documents/d", "inside/new", "part/new",
                "whole/container/new", "inside/../outer/container/new",
            ]
            let points = [
                ("app/tmp/point", "container"), ("link/point", "container"), ("view/d", "container"),
                ("outer/container/Documents/d", "store"), ("inside/Documents/d", "store"), ("part/point", "store"),
            ]
            try withContainer { place in
                let before = try Files.tree("\(place)/outer/container")
                for (stores, word) in [
                    (inContainer, "inside the container mounted"), (inStore, "inside another store"),
                ] {
                    for store in stores {
                        try refused(["mount", store, "free"], word, in: place)
                        try refused(["run", "--store", store, "--", "true"], word, status: 125, in: place)
                        try refused(["mount", "\(place)/\(store)", "free"], word, in: place)
                    }
                }
                for (point, word) in points {
                    try refused(["mount", "new", point], "mount point is inside", word, in: place)
                }
                #expect(!Files.exists("\(place)/new"))
                let after = try Files.tree("\(place)/outer/container")
                #expect(after == before)
            }
        }

        /// `run` empties the files that it writes, or appends to them, so they must not lie in a store.
        @Test(arguments: ["--events", "--trace", "--log"]) func theFilesOfARunLieElsewhere(option: String) throws {
            try withContainer { place in
                try PurgefsBinary.run("mount", "other", "free", in: place).succeeded()
                try PurgefsBinary.run("unmount", "free", in: place).succeeded()
                try Program.shell("ln -s other/container/new dangling; ln -s dangling chain", in: place).succeeded()
                let files = [
                    "device.json", "journal.sqlite", "container/tmp/events", "../other/device.json", "../dangling",
                    "../chain",
                ]
                let before = try Files.tree("\(place)/other")
                for file in files {
                    try refused(
                        ["run", "--store", "other", option, "other/\(file)", "--", "true"], "is inside a store",
                        status: 125, in: place)
                }
                try refused(
                    ["run", option, "whole/device.json", "--", "true"], "is inside a store", status: 125, in: place)
                #expect(try Files.tree("\(place)/other") == before)
                try PurgefsBinary.run("run", "--quiet", "--events", "app/tmp/e", "--", "true", in: place).succeeded()
                #expect(Files.text("\(place)/app/tmp/e").contains("unmount"))
            }
        }

        @Test(arguments: [["--log"], ["--foreground", "--trace-file"]])
        func theFilesOfADaemonLieElsewhere(options: [String]) throws {
            try withContainer { place in
                try Program.shell("mkdir empty; ln -s empty/log dangling", in: place).succeeded()
                let before = try Files.names(in: place) + Files.tree("\(place)/outer/container")
                for (store, file) in [
                    ("empty", "empty/log"), ("empty", "dangling"), ("empty", "outer/journal.sqlite"),
                    ("new", "whole/container/log"),
                ] {
                    try refused(["mount"] + options + [file, store, "free"], "is inside a store", in: place)
                }
                try refused(["mount"] + options + ["free/log", "new", "free"], "is below the mount point", in: place)
                let after = try Files.names(in: place) + Files.tree("\(place)/outer/container")
                #expect(try after == before && Files.names(in: "\(place)/empty").isEmpty)
                #expect(try Files.names(in: "\(place)/free").isEmpty)
            }
        }

        /// A TMPDIR in a container or in a store is not used, because its files would be purged.
        @Test func temporaryStoresLieElsewhere() throws {
            try withContainer { place in
                for directory in ["app/tmp", "outer/container/tmp", "part"] {
                    let found = try PurgefsBinary.run(
                        "run", "--quiet", "--", "sh", "-c", "echo $HOME",
                        environment: ["TMPDIR": "\(place)/\(directory)"]
                    ).succeeded()
                    #expect(found.hasPrefix("/tmp/"), "\(directory): \(found)")
                }
            }
        }

        private func refused(
            _ arguments: [String], _ words: String..., status: Int32 = 1, in place: String
        ) throws {
            let outcome = try Program.run([PurgefsBinary.path] + arguments, in: place, timeout: 20)
            #expect(outcome.status == status && words.allSatisfy(outcome.errors.contains), "\(outcome)")
            if outcome.status == 0, arguments[0] == "mount" {
                _ = try PurgefsBinary.run("unmount", arguments.last ?? "", in: place)
            }
        }
    }
}
