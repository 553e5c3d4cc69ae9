import Glibc
import Support
import Testing

@testable import PurgeSystem

/// The file that open(2) opens or creates.
struct ResolvedPathTests {
    @Test func aFileThatIsCreatedThroughLinks() throws {
        try Scratch.with("paths") { scratch in
            let place = scratch.path
            try Program.shell(
                """
                mkdir in; echo x > in/file; ln -s in/new relative; ln -s $PWD/relative absolute; ln -s in/file there
                ln -s nowhere/new lost; ln -s loop loop
                """, in: place
            ).succeeded()
            for (name, found) in [
                ("relative", "in/new"), ("absolute", "in/new"), ("there", "in/file"), ("new", "new"),
                ("in/new", "in/new"),
            ] {
                #expect(try System.resolvedOrCreated("\(place)/\(name)") == "\(place)/\(found)")
            }
            for (name, error) in [("lost", Errno.noEntry), ("loop", Errno(ELOOP))] {
                #expect(throws: error) { try System.resolvedOrCreated("\(place)/\(name)") }
            }
        }
    }

    /// The kernel follows 40 links.
    @Test func asManyLinksAsTheKernelFollows() throws {
        try Scratch.with("paths") { scratch in
            let script = "for n in $(seq 41); do ln -s $((n - 1)) $n; done"
            try Program.shell(script, in: scratch.path).succeeded()
            #expect(try System.resolvedOrCreated("\(scratch.path)/40") == "\(scratch.path)/0")
            #expect(throws: Errno(ELOOP)) { try System.resolvedOrCreated("\(scratch.path)/41") }
        }
    }
}
