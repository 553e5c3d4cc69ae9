import Glibc
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeCommands

/// A policy's directory is reached and made name by name, so that an app's links cannot redirect it.
struct PolicyDirectoryTests {
    private static func makeStore(_ path: String) throws {
        let store = try Store.open(path, creating: true)
        try store.saveSettings(try store.loadSettings())
    }

    @Test(arguments: [SystemCall.Name.mkdirat, .setxattr]) func followsNoLink(before call: SystemCall.Name) throws {
        try Scratch.with("policy") { scratch in
            let (store, outside) = (scratch.path + "/store", scratch.path + "/outside")
            try Self.makeStore(store)
            let documents = store + "/container/Documents"
            try Files.makeDirectory(outside)
            try Files.makeDirectory(outside + "/feed")
            try Files.makeDirectory(documents + "/news")
            if call == .setxattr { try Files.makeDirectory(documents + "/news/feed") }
            let replace = {
                _ = try? Files.rename(documents + "/news", documents + "/moved")
                _ = symlink(outside, documents + "/news")
            }
            // Opening a store may try out an attribute; this test needs the later call.
            let opened = call == .setxattr ? try PolicyDirectory(documents + "/news/feed", making: false) : nil
            let adding = SystemCallFaults.running(replace, before: call) {
                let directory = try opened ?? PolicyDirectory(documents + "/news/feed", making: true)
                try directory.set([(.sizeLimit, "4096")])
            }
            try adding.result.get()
            #expect(adding.hits == 1)
            #expect(try Attributes.names(outside + "/feed").isEmpty)
            #expect(try Attributes.text(documents + "/moved/feed", "user.purgefs.sizeLimit") == "4096")
        }
    }
}
