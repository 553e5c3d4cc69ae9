import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Answers of `purgefs why` about actions of real programs.
    @Suite struct WhyTests {
        private struct Answer: Decodable {
            struct Event: Decodable {
                let type: String
                let path: String?
                let reason: String?
                let trigger: String?
                let pid: Int32?
                let process: String?
                let cause: String?
                let bytes: Int64?
                let pressure: String?
                let lastUse: String?
            }
            struct Move: Decodable {
                let from: String
                let to: String
                let folder: String?
            }
            struct Passed: Decodable {
                let path: String
                let reason: String
                let process: String?
            }
            struct Flag: Decodable {
                let flag: String
                let value: String
            }
            struct File: Decodable {
                struct Turn: Decodable {
                    let position: Int
                    let of: Int
                    let bytesBefore: Int64
                    let reachedBeyond: Int64?
                }
                struct Refusal: Decodable {
                    struct User: Decodable { let pid: Int32 }
                    let reason: String
                    let users: [User]?
                }
                struct Protection: Decodable { let canBeOpened: Bool }
                let kind: String
                let tier: String
                let charged: Int64?
                let turn: Turn?
                let refusal: Refusal?
                let protection: Protection?
                let isPurgeableFrom: String?
            }
            let path: String
            let answer: String
            let isExact: Bool?
            let isCertain: Bool?
            let event: Event?
            let place: String?
            let moves: [Move]?
            let origins: [Move]?
            let passedOver: [Passed]?
            let lostFlags: [Flag]?
            let refused: Event?
            let protectionDenied: Event?
            let earlier: Event?
            let file: File?
            let nearest: String?
            struct Journal: Decodable {
                let lacks: [String]?
                let isOff: Bool?
            }
            let journal: Journal
        }

        private func why(_ path: String, in directory: String? = nil, status: Int32 = 0) throws -> Answer {
            let outcome = try PurgefsBinary.run("why", "--json", path, in: directory)
            #expect(outcome.status == status && outcome.errors.isEmpty == (status == 0), "\(path): \(outcome)")
            return try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
        }
        private func text(_ path: String) throws -> String {
            try PurgefsBinary.run("why", path).succeeded().split(separator: "\n").joined(separator: " ")
        }

        /// A copy to Documents purges one cache and skips another, older one that is in use.
        @Test func purgedForACopy() throws {
            try withMount(["--total", "64M"]) { mount in
                try mount.turnThresholdsOff()
                try mount.make("Library/Caches/used", size: 1 << 20)
                let script =
                    "import time\nf = open('Library/Caches/used')\nopen('ready', 'w').close()\ntime.sleep(1000)"
                let user = try Program.start([Program.python, "-c", script], in: mount.root)
                defer { user.signal(SIGKILL) }
                try eventually("an open file") { mount.exists("ready") }
                try mount.make("Library/Caches/thumb nails", size: 6 << 20)
                try mount.makeDirectory("outside")
                try Program.shell(
                    "head -c 60M /dev/zero > \(mount.scratch)/big; cp \(mount.scratch)/big Documents/big",
                    in: mount.root
                )
                .succeeded()
                let answer = try why(mount.path("Library/Caches/thumb nails"))
                #expect(answer.answer == "purged" && answer.event?.reason == "caches")
                #expect(answer.event?.trigger == "importantWrite" && answer.event?.bytes == 6 << 20)
                #expect(answer.event?.cause == "Documents/big" && answer.event?.process == "cp", "\(answer)")
                #expect(
                    answer.passedOver?.map(\.path) == ["Library/Caches/used"] && answer.passedOver?[0].reason == "open")
                #expect(answer.passedOver?.first?.process?.hasPrefix("python") ?? false)
                let text = try text(mount.path("Library/Caches/thumb nails"))
                #expect(text.contains("(cp) wrote to Documents/big") && text.contains("It held 6.0 MiB"), "\(text)")
                #expect(text.contains("Library/Caches/used: it was in use by process \(user.pid) (python"), "\(text)")
                let used = try why(mount.path("Library/Caches/used"))
                #expect(used.answer == "present" && used.file?.refusal?.reason == "open")
                #expect(used.file?.refusal?.users?.map(\.pid) == [user.pid])
                user.signal(SIGKILL)
                try user.wait(within: 10)
            }
        }

        /// A deleted, a moved and a replaced file have three different answers.
        @Test func deletedOrMovedOrReplaced() throws {
            try withMount { mount in
                for name in ["deleted", "moved", "saved"] { try mount.make("Documents/\(name)", size: 5000) }
                try Program.run("rm", mount.path("Documents/deleted")).succeeded()
                try Program.run("mv", mount.path("Documents/moved"), mount.path("tmp/x")).succeeded()
                try mount.write("tmp", to: "storage.reclaim")
                try PurgefsBinary.run("mark", "--exclude-from-backup", mount.path("Documents/saved")).succeeded()
                let save = "import os\nopen('.new', 'w').write('x')\nos.replace('.new', 'saved')"
                try Program.run([Program.python, "-c", save], in: mount.path("Documents")).succeeded()

                let deleted = try why(mount.path("Documents/deleted"))
                #expect(deleted.answer == "removed" && deleted.event?.process == "rm" && deleted.event?.bytes == 8192)
                let moved = try why(mount.path("Documents/moved"))
                #expect(moved.answer == "purged" && moved.place == "tmp/x" && moved.event?.path == "tmp/x")
                #expect(moved.moves?.map(\.to) == ["tmp/x"] && moved.event?.trigger == "command")
                #expect(try why(mount.path("tmp/x")).origins?.map(\.from) == ["Documents/moved"])
                let saved = try why(mount.path("Documents/saved"))
                #expect(saved.answer == "flagLost" && saved.lostFlags?.map(\.flag) == ["isExcludedFromBackup"])
                #expect(saved.event?.process?.hasPrefix("python") ?? false)
                #expect(try text(mount.path("Documents/saved")).contains("by renaming Documents/.new over it"))
                #expect(try why(mount.path("Documents/.new")).place == "Documents/saved")

                try PurgefsBinary.run("mark", "--exclude-from-backup", mount.path("Documents/saved")).succeeded()
                #expect(try why(mount.path("Documents/saved")).answer == "present")
                try mount.unmount()
                let stored = "\(mount.store)/container/Documents"
                #expect(try why("\(stored)/deleted").answer == "removed")
                #expect(try why("\(stored)/moved").place == "tmp/x")
                #expect(try why("\(stored)/saved").file?.refusal?.reason == "notPurgeable")
            }
        }

        /// `why` follows renames of parent folders in both directions, folders that are gone, and an exchange.
        @Test func folders() throws {
            try withMount { mount in
                try mount.makeDirectory("Documents/album")
                for name in ["a", "b", "c"] { try mount.make("Documents/album/\(name)", size: 4096) }
                try Program.shell(
                    "rm Documents/album/b && mv Documents/album tmp/old && mv tmp/old tmp/older", in: mount.root
                )
                .succeeded()
                let there = try why(mount.path("Documents/album/a"))
                #expect(there.answer == "moved" && there.place == "tmp/older/a")
                #expect(there.moves?.map(\.folder) == ["Documents/album", "tmp/old"])
                #expect(
                    try why(mount.path("Documents/album/b")).event?.process == "rm",
                    "deleted before the folder was moved")
                try Program.run("rm", mount.path("tmp/older/c")).succeeded()
                #expect(try why(mount.path("Documents/album/c")).answer == "removed")
                try mount.write("tmp", to: "storage.reclaim")
                let gone = try why(mount.path("Documents/album/a"))
                #expect(gone.answer == "purged" && gone.event?.path == "tmp/older/a")
                #expect(try why(mount.path("tmp/older/a")).origins?.last?.from == "Documents/album/a")
                #expect(try why(mount.path("Documents/album/never")).isCertain == false)

                try mount.make("Documents/x", size: 1)
                try mount.make("Documents/y", size: 1)
                try Files.rename(mount.path("Documents/x"), mount.path("Documents/y"), flags: 2)  // RENAME_EXCHANGE
                try Program.run("rm", mount.path("Documents/x")).succeeded()
                #expect(try why(mount.path("Documents/x")).event?.process == "rm")
                #expect(try why(mount.path("Documents/y")).origins?.map(\.from) == ["Documents/x"])
            }
        }

        /// `why` follows an exchange of two folders, and renames there and back that are faster than the ticks of the journal's
        /// clock.
        @Test func exchangedOrThereAndBack() throws {
            try withMount { mount in
                for folder in ["Documents/now", "Documents/next"] { try mount.makeDirectory(folder) }
                for path in ["Documents/now/a", "Documents/next/b", "Documents/x"] { try mount.make(path, size: 1) }
                let exchange: UInt32 = 2  // RENAME_EXCHANGE
                try Files.rename(mount.path("Documents/now"), mount.path("Documents/next"), flags: exchange)
                let exchanged = try why(mount.path("Documents/now/a"))
                #expect(
                    exchanged.answer == "moved" && exchanged.place == "Documents/next/a" && exchanged.isCertain == nil)
                #expect(try why(mount.path("Documents/next/a")).origins?.map(\.from) == ["Documents/now/a"])
                let steps = "import os\nos.rename('x', 'y')\nos.rename('y', 'z')\nos.rename('z', 'y')\nos.unlink('y')"
                try Program.run([Program.python, "-c", steps], in: mount.path("Documents")).succeeded()
                let back = try why(mount.path("Documents/x"))
                #expect(back.answer == "removed" && back.place == "Documents/y" && back.moves?.count == 3)
            }
        }

        /// `why` follows a file to a name that is not UTF-8, although the journal does not have the bytes of the name.
        @Test func movedToANameThatIsNotUTF8() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 1)
                let move = "import os\nos.mkdir(b'\\xfe')\nos.rename('a', b'\\xfe/\\xff')"
                try Program.run([Program.python, "-c", move], in: mount.path("Documents")).succeeded()
                let answer = try why(mount.path("Documents/a"))
                #expect(
                    answer.answer == "moved" && answer.place == "Documents/\u{FFFD}/\u{FFFD}" && answer.isCertain == nil
                )
                try Program.run(
                    [Program.python, "-c", "import os\nos.rename(b'\\xfe', 'b')"], in: mount.path("Documents")
                )
                .succeeded()
                #expect(try why(mount.path("Documents/a")).place == "Documents/b/\u{FFFD}")
            }
        }

        /// `why` reports that tmp was emptied with a folder in it, although no event names the folder.
        @Test func aFolderThatWasMovedToTmp() throws {
            try withMount { mount in
                try mount.makeDirectory("Documents/album")
                try mount.make("Documents/album/a", size: 4096)
                try Program.shell("mv Documents/album tmp", in: mount.root).succeeded()
                try mount.write("reboot", to: "device.state")
                try mount.write("unlock", to: "device.state")
                try mount.makeDirectory("tmp/album")
                try Program.shell("mv tmp/album Documents/later", in: mount.root).succeeded()
                let folder = try why(mount.path("Documents/album"))
                #expect(folder.answer == "tmpEmptied" && folder.isCertain == nil && folder.place == "tmp/album")
                let file = try why(mount.path("Documents/album/a"))
                #expect(file.answer == "purged" && file.event?.reason == "reboot" && file.place == "tmp/album/a")
            }
        }

        /// An event explains nothing newer: no file made in a folder after the folder's move, and no write that succeeds after
        /// a refused one.
        @Test func whatIsNewerThanTheEvent() throws {
            try withMount(["--total", "16M"]) { mount in
                try mount.makeDirectory("Documents/album")
                let script = "touch Documents/album/$(seq -s ' Documents/album/' 200); rm Documents/album/*"
                try Program.shell("\(script); mv Documents/album Documents/photos", in: mount.root).succeeded()
                var number = 0
                try eventually("another tick of the store's clock") {
                    number += 1
                    try mount.make("Documents/photos/\(number)", size: 1)
                    let answer = try why(mount.path("Documents/album/\(number)"))
                    return answer.answer == "removed" && answer.place == nil && answer.isCertain == nil
                }
                let full =
                    "import os\nf = open('Documents/big', 'wb', 0)\ntry:\n while 1: f.write(bytes(1 << 20))\nexcept OSError: pass"
                try Program.run([Program.python, "-c", full], in: mount.root).succeeded()
                #expect(try why(mount.path("Documents/big")).answer == "refused")
                try mount.write("64M", to: "storage.total")
                try eventually("a later second") {
                    try Program.shell("echo x >> Documents/big", in: mount.root).succeeded()
                    return try why(mount.path("Documents/big")).answer == "present"
                }
                #expect(try text(mount.path("Documents/big")).contains("It has been written to since then."))
            }
        }

        /// The answer says that the journal is switched off, or was for some time.
        @Test(arguments: [true, false]) func whileNothingWasRecorded(mounted: Bool) throws {
            try withMount { mount in
                func set(_ setting: String) throws {
                    if !mounted { try mount.unmount() }
                    try PurgefsBinary.run("set", mounted ? mount.root : mount.store, setting).succeeded()
                    if !mounted { try mount.remount() }
                }
                try Program.shell("echo x > Documents/a; rm Documents/a; echo x > Documents/a", in: mount.root)
                    .succeeded()
                #expect(try why(mount.path("Documents")).journal.lacks == nil)
                try set("journal.size=0")
                try Program.shell("mv Documents/a Documents/b", in: mount.root).succeeded()
                let text = try text(mount.path("Documents/a"))
                #expect(text.contains("No events are recorded now (journal.size is 0)"), "\(text)")
                #expect(try why(mount.path("Documents/a")).journal.isOff == true)
                try set("journal.size=64M")
                let answer = try why(mount.path("Documents/a"))
                #expect(answer.journal.isOff == nil)
                #expect(answer.journal.lacks == ["events from the time when none were recorded (journal.size was 0)"])
                #expect(try self.text(mount.path("Documents/a")).contains("This answer may be incomplete"))
            }
        }

        /// `why` explains the journal file of a database, although each transaction reuses its name.
        @Test func sqlite() throws {
            try withMount { mount in
                let words = ["sqlite3", "Documents/app.db", "create table a(b); insert into a values(1)"]
                try Program.run(words, in: mount.root).succeeded()
                let journal = try why(mount.path("Documents/app.db-journal"))
                #expect(journal.answer == "removed" && journal.event?.process == "sqlite3")
                #expect(journal.earlier?.type == "removed", "one for each transaction")
            }
        }

        /// `why` explains a write that found no room, and a file that cannot be opened or made while the device is locked.
        @Test func refusedAndLocked() throws {
            try withMount(["--total", "16M"]) { mount in
                try mount.makeDirectory("Documents/safe")
                try Attributes.mark(mount.path("Documents/safe"), "fileProtection", "complete")
                try mount.make("Documents/safe/diary", size: 100)
                let copy = try Program.shell(
                    "head -c 20M /dev/zero > \(mount.scratch)/big; cp \(mount.scratch)/big Documents/big",
                    in: mount.root)
                #expect(copy.status != 0)
                let refused = try why(mount.path("Documents/big"))
                #expect(refused.answer == "refused" && refused.refused?.process == "cp", "\(refused)")
                try mount.write("lock", to: "device.state")
                try mount.write("+10s", to: "device.clock")
                #expect(try Program.run("cat", mount.path("Documents/safe/diary")).status != 0)
                #expect(try Program.shell("echo x > Documents/safe/new", in: mount.root).status != 0)
                let diary = try why(mount.path("Documents/safe/diary"))
                #expect(diary.answer == "inaccessible" && diary.file?.protection?.canBeOpened == false)
                #expect(diary.protectionDenied?.process == "cat")
                let made = try why(mount.path("Documents/safe/new"))
                #expect(made.answer == "denied" && made.event?.reason == "create complete locked")
                try mount.write("unlock", to: "device.state")
                #expect(try why(mount.path("Documents/safe/diary")).answer == "present")
            }
        }

        /// `why` names the reboot, update, deletion or restoration after which a file is gone.
        @Test func rebootedUpdatedDeletedRestored() throws {
            try withMount { mount in
                func makeFiles() throws {
                    try mount.makeDirectory("tmp/folder")
                    for path in ["tmp/folder/a", "tmp/b", "Library/Caches/c"] { try mount.make(path, size: 4096) }
                }
                try makeFiles()
                try PurgefsBinary.run("device", "reboot", mount.root).succeeded()
                try mount.write("unlock", to: "device.state")
                let rebooted = try why(mount.path("tmp/folder/a"))
                #expect(rebooted.answer == "purged" && rebooted.event?.reason == "reboot")
                #expect(try why(mount.path("tmp/folder")).answer == "tmpEmptied")
                try makeFiles()
                try PurgefsBinary.run("app", "update", mount.root).succeeded()
                #expect(try text(mount.path("tmp/b")).contains("an update of the app empties tmp"))
                try mount.make("Documents/d", size: 4096)
                try PurgefsBinary.run("backup", "create", mount.root, "--output", "\(mount.scratch)/saved").succeeded()
                try PurgefsBinary.run("app", "delete", mount.root).succeeded()
                let deleted = try why(mount.path("Library/Caches/c"))
                #expect(deleted.answer == "appDeleted" && deleted.event?.process == "purgefs")
                #expect(try why(mount.path("tmp/b")).earlier?.reason == "temporary", "of another life")
                let restored = "\(mount.scratch)/restored"
                try PurgefsBinary.run("backup", "restore", "\(mount.scratch)/saved", restored).succeeded()
                #expect(try why("\(restored)/container/Library/Caches/c").answer == "notRestored")
                #expect(try why("\(restored)/container/Documents/d").answer == "present")
            }
        }

        /// The turn of a file is its position in `purge --all --dry-run`.
        @Test(arguments: [true, false]) func howSoon(mounted: Bool) throws {
            try withMount { mount in
                try mount.write("8M", to: "storage.others")
                try mount.write("1M", to: "storage.others.purgeable")
                try mount.make("tmp/a", size: 8192)
                try mount.makeDirectory("Documents/album")
                try mount.make("Documents/album/b", size: 4096)
                try mount.mark("Documents/album", "high")
                let free = try mount.number("storage.available")
                if !mounted { try mount.unmount() }
                let root = mounted ? mount.root : "\(mount.store)/container"
                let file = try #require(try why("\(root)/Documents/album/b").file)
                #expect(file.turn?.position == 3 && file.turn?.of == 3 && file.turn?.bytesBefore == (1 << 20) + 8192)
                #expect(file.turn?.reachedBeyond == free + (1 << 20) + 8192 && file.charged == 4096)
                #expect(file.isPurgeableFrom == "Documents/album" && file.tier == "persistent")
                #expect(try why("\(root)/tmp/a").file?.turn?.position == 2)
                #expect(try why("\(root)/Documents").file?.kind == "folder")
            }
        }

        /// After a purge that leaves the file's name, `why` answers `emptied` until the file is written to.
        @Test func emptied() throws {
            try withMount { mount in
                try mount.makeDirectory("Library/Caches/stones")
                try PurgefsBinary.run("mark", "--tombstone", mount.path("Library/Caches/stones")).succeeded()
                try mount.make("Library/Caches/stones/a", size: 4096)
                try mount.write("4096", to: "storage.reclaim")
                let answer = try why(mount.path("Library/Caches/stones/a"))
                #expect(answer.answer == "emptied" && answer.event?.bytes == 4096)
                try Files.write("again", to: mount.path("Library/Caches/stones/a"))
                #expect(try why(mount.path("Library/Caches/stones/a")).answer == "present")
            }
        }

        /// The path that `why` gets may be relative, be a link, end with slashes, lie in a folder that is gone, or not be
        /// UTF-8.
        @Test func paths() throws {
            try withMount { mount in
                try mount.makeDirectory("tmp/folder")
                try mount.make("tmp/folder/a\nb", size: 1)
                try Files.symlink("folder", mount.path("tmp/link"))
                try Files.symlink("folder", mount.path("tmp/dangling"))
                try Program.run([Program.python, "-c", "open(b'\\xff', 'w').close()"], in: mount.path("tmp"))
                    .succeeded()
                #expect(try why("link", in: mount.path("tmp")).file?.kind == "link")
                #expect(
                    try why("link", in: mount.path("tmp")).file?.turn?.reachedBeyond == nil, "it gives nothing back")
                #expect(try why("./link//", in: mount.path("tmp")).path == "tmp/link")
                let binary = PurgefsBinary.path
                let gone = try Program.shell(
                    "cd folder && rm 'a\nb' && rmdir ../folder && \(binary) why 'a\nb' --json && \(binary) why . --json",
                    in: mount.path("tmp"))
                #expect(
                    gone.output.split(separator: "\n").count == 2 && gone.output.contains(#""path":"tmp/folder/a\nb""#),
                    "\(gone)")
                #expect(gone.output.contains(#""path":"tmp/folder","#), "\(gone)")
                #expect(
                    try text(mount.path("tmp/folder/a\nb")).hasPrefix(#"tmp/folder/a\u{a}b: it was deleted by the app"#)
                )
                #expect(try why(mount.path("tmp/./folder/../folder/a\nb")).answer == "removed")
                let odd = try Program.run(
                    [
                        Program.python, "-c",
                        "import os, sys\nos.unlink(b'\\xff')\nos.execv(sys.argv[1], [b'purgefs', b'why', b'--json', b'\\xff'])",
                        binary,
                    ],
                    in: mount.path("tmp"))
                #expect(
                    odd.status == 0 && odd.output.contains(#""isExact":false"#)
                        && odd.output.contains(#""answer":"removed""#), "\(odd)")
            }
        }

        /// The exit status is 1 for a path that never existed.
        @Test func nothingIsKnown() throws {
            try withMount { mount in
                try mount.make("Documents/notes.txt", size: 1)
                let answer = try why(mount.path("Documents/notes.tx"), status: 1)
                #expect(answer.answer == "unknown" && answer.nearest == "Documents/notes.txt")
                #expect(try why(mount.path("Docments/notes.txt"), status: 1).nearest == "Documents/notes.txt")
                #expect(try PurgefsBinary.run("why", mount.root).status == 64)
                #expect(try PurgefsBinary.run("why", mount.control("events")).status == 1)
                #expect(try PurgefsBinary.run("why", "\(mount.scratch)/nothing").status == 1)
            }
        }

        /// `why` explains a purge under pressure from another program's write, while the device's clock is ahead.
        @Test func purgedInTheBackground() throws {
            try withMount(["--total", "64M"]) { mount in
                try mount.make("tmp/a", size: 4 << 20)
                try PurgefsBinary.run("clock", "advance", "3d", mount.root).succeeded()
                try Program.shell("head -c 55M /dev/zero > Documents/big", in: mount.root).succeeded()
                try eventually("a purge") { !mount.exists("tmp/a") }
                let answer = try why(mount.path("tmp/a"))
                #expect(answer.event?.trigger == "pressure" && answer.event?.cause == "Documents/big")
                #expect(answer.event?.process == "head" && answer.event?.pressure == "low")
                let text = try text(mount.path("tmp/a"))
                #expect(text.contains("by the device's clock") && text.contains("in real time"), "\(text)")
            }
        }
    }
}
