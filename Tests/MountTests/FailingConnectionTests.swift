import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// No caller waits forever if system calls on /dev/fuse fail. strace injects the errors.
    @Suite struct FailingConnectionTests {
        private static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Programs/failing_answers.py").path

        private func withFailing(_ fault: String, deadline: Double = 120, _ body: (TestMount) throws -> Void) throws {
            try withMount(deadline: deadline, mounted: false) { mount in
                mount.expectWarnings()
                let call = fault.prefix { $0 != ":" }
                let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(fault)"]
                try mount.mount(["-o", "transport=dev"], wrapper: strace)
                try body(mount)
            }
        }

        private func run(_ mount: TestMount) throws -> Outcome {
            try Program.run([Program.python, Self.program, mount.root, "8"], timeout: 90)
        }

        /// An answer that cannot be sent is logged and gives the caller EIO, whether it is short, long or file data.
        @Test(arguments: [
            "write:error=ENOMEM:when=15+9", "writev:error=ENOMEM:when=1+2", "splice:error=ENOMEM:when=2+4",
        ])
        func answersThatCannotBeSent(fault: String) throws {
            try withFailing(fault) { mount in
                let failed = try run(mount).succeeded().split(separator: "\n").last.flatMap { Int($0) }
                #expect(failed ?? 0 > 0)
                #expect(mount.log.contains("the kernel did not take an answer"))
            }
        }

        /// A mount that fails because a thread cannot be started does not appear in the journal, and is not reported as killed
        /// by the next mount.
        @Test func threadsThatCannotBeStarted() throws {
            var failures = 0
            for number in 8...14 {
                try withMount { mount in
                    try mount.unmount()
                    mount.expectWarnings()
                    let fault = "inject=clone3:error=EAGAIN:when=\(number)"
                    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=clone3", "-e", fault]
                    do {
                        try mount.mount(wrapper: strace)
                        try mount.unmount()
                    } catch is TestFailure { failures += 1 }
                    if mount.daemon != nil { try mount.crash() }
                    let types = try StoreEvent.journal(of: mount.store).map(\.type)
                    let start = ["mount", "unmount"]
                    #expect(types == start || types == start + start, "thread \(number)")
                }
            }
            #expect(failures > 1)
        }

        /// A read that fails occasionally does not end the mount, and no caller notices.
        @Test func requestsThatCannotBeReadAtOnce() throws {
            try withFailing("read:error=EIO:when=150+15") { mount in
                let output = try run(mount).succeeded()
                #expect(output == "0\n")
                #expect(mount.log.contains("cannot read from the kernel"))
            }
        }

        /// A read that keeps failing ends the mount with an error, and no caller waits. strace counts each thread's calls
        /// separately, so the more threads are busy, the later the failures begin.
        @Test func requestsThatCannotBeReadAnyMore() throws {
            try withFailing("read:error=EIO:when=200+") { mount in
                let outcome = try run(mount)
                #expect(outcome.status != 0)
                let daemon = try #require(mount.daemon)
                let status = try daemon.wait(within: 30)
                #expect(status == 1)
                #expect(daemon.errors.contains("the connection to the kernel failed"))
                #expect(MountTable.entry(at: mount.root) == nil)
                try mount.kill()
            }
        }
    }
}
