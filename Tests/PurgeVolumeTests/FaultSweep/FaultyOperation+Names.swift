import Glibc
import PurgeSystem
import Support

@testable import PurgeVolume

// Creation, links, removal and renames.
extension FaultyOperation {
    static let names: [FaultyOperation] = [
        .init("create") { stage in { stage.handles.append(try stage.live.create("Documents/f")) } },
        .init("create in a protected folder") { stage in
            try stage.live.makeDirectory("Documents/d")
            try stage.live.set("fileProtection", of: "Documents/d", to: "complete")
            return { stage.handles.append(try stage.live.create("Documents/d/f")) }
        },
        .init("create without O_EXCL what is there") { stage in
            try stage.file(blocks: 2)
            return { stage.handles.append(try stage.live.create("Documents/f", O_RDWR | O_CREAT | O_TRUNC)) }
        },
        .init("O_TMPFILE") { stage in { stage.handles.append(try stage.live.makeTemporary("tmp")) } },
        .init("link of an O_TMPFILE") { stage in
            let handle = try stage.live.makeTemporary("Documents")
            stage.handles.append(handle)
            try stage.live.write(handle, at: 0, 8192)
            return { try stage.live.link(handle.node, "Documents/named") }
        },
        .init("mkdir") { stage in { try stage.live.makeDirectory("Documents/d") } },
        .init("mkdir in a protected folder") { stage in
            try stage.live.makeDirectory("Documents/d")
            try stage.live.set("fileProtection", of: "Documents/d", to: "complete")
            return { try stage.live.makeDirectory("Documents/d/e") }
        },
        .init("mknod") { stage in { try stage.live.makeFIFO("Documents/p") } },
        .init("symlink") { stage in { try stage.live.symlink("Documents/l") } },
        .init("link") { stage in
            try stage.file(blocks: 2)
            return { try stage.live.link("Documents/f", "Documents/g") }
        },
        .init("link to another tier") { stage in
            try stage.live.make("tmp/f", blocks: 2)
            return { try stage.live.link("tmp/f", "Documents/f") }
        },
        .init("unlink") { stage in
            try stage.file(blocks: 2)
            stage.closeAll()
            return { try stage.live.unlink("Documents/f") }
        },
        .init("unlink an open file") { stage in
            try stage.file(blocks: 2)
            return { try stage.live.unlink("Documents/f") }
        },
        .init("unlink one of two names") { stage in
            try stage.live.make("tmp/f", blocks: 2)
            try stage.live.link("tmp/f", "Documents/f")
            return { try stage.live.unlink("Documents/f") }
        },
        .init("unlink a symbolic link") { stage in
            try stage.live.symlink("tmp/l")
            return { try stage.live.unlink("tmp/l") }
        },
        .init("unlink a sparse file") { stage in
            _ = try stage.scattered()
            stage.closeAll()
            return { try stage.live.unlink("Documents/f") }
        },
        .init("rmdir") { stage in
            try stage.live.makeDirectory("Documents/d")
            return { try stage.live.removeDirectory("Documents/d") }
        },
    ]

    static let renames: [FaultyOperation] = [
        .init("rename to another tier") { stage in
            try stage.live.make("Documents/f", blocks: 2)
            return { try stage.live.rename("Documents/f", "tmp/f") }
        },
        .init("rename without replacing") { stage in
            try stage.live.make("Documents/f", blocks: 2)
            return { try stage.live.rename("Documents/f", "tmp/f", flags: RenameFlag.noReplace) }
        },
        .init("rename over") { stage in
            try stage.file(blocks: 2)
            try stage.file("g", blocks: 3)
            stage.closeAll()
            return { try stage.live.rename("Documents/f", "Documents/g") }
        },
        .init("rename over an open file") { stage in
            try stage.live.make("Documents/f", blocks: 2)
            try stage.file("g", blocks: 3)
            return { try stage.live.rename("Documents/f", "Documents/g") }
        },
        .init("rename over a sparse file") { stage in
            _ = try stage.scattered()
            stage.closeAll()
            try stage.live.make("tmp/g", blocks: 1)
            return { try stage.live.rename("tmp/g", "Documents/f") }
        },
        .init("rename over one of two names") { stage in
            try stage.live.make("Documents/f", blocks: 2)
            try stage.live.make("tmp/g", blocks: 3)
            try stage.live.link("tmp/g", "Documents/g")
            return { try stage.live.rename("Documents/f", "Documents/g") }
        },
        .init("rename over the same file") { stage in
            try stage.live.make("Documents/f", blocks: 2)
            try stage.live.link("Documents/f", "Documents/g")
            return { try stage.live.rename("Documents/f", "Documents/g") }
        },
        .init("rename a folder over an empty one") { stage in
            for folder in ["Documents/d", "tmp/d"] { try stage.live.makeDirectory(folder) }
            try stage.live.make("Documents/d/f", blocks: 2)
            return { try stage.live.rename("Documents/d", "tmp/d") }
        },
        .init("exchange") { stage in
            try stage.file(blocks: 2)
            try stage.live.make("tmp/g", blocks: 3)
            return { try stage.live.rename("Documents/f", "tmp/g", flags: RenameFlag.exchange) }
        },
        .init("exchange a folder and a file") { stage in
            try stage.live.makeDirectory("Documents/d")
            try stage.live.make("Documents/d/f", blocks: 2)
            try stage.live.make("tmp/g", blocks: 3)
            return { try stage.live.rename("Documents/d", "tmp/g", flags: RenameFlag.exchange) }
        },
    ]
}
