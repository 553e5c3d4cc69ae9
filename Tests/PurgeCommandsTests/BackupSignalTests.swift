import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Testing

@testable import PurgeCommands

/// Signals that arrive when `purgefs backup` is nearly finished.
struct BackupSignalTests {
    private static let container = "64D2D0B7-3CC8-46A4-8F77-4F2C0B6C3E11"

    /// Gives `body` a fresh directory that contains a store.
    private func withStore(_ body: (String) throws -> Void) throws {
        let root = try System.makeTemporaryDirectory(prefix: "/tmp/purgefs-signal-test.")
        try Store.open("\(root)/store", creating: true).saveSettings(Device(containerID: Self.container))
        let result = Result { try body(root) }
        let (parent, name) = (try FileDescriptor.open("/tmp", O_RDONLY | O_DIRECTORY), root.pathNames.last ?? "")
        try TreeRemoval.run(name, in: parent)
        try result.get()
    }

    /// Runs a command line, and returns its session. Lets `earlier` calls of `name` pass, and sends SIGINT to this thread right
    /// before the next one.
    private func interrupted(
        before name: SystemCall.Name, after earlier: Int = 0, _ words: [String]
    ) throws -> Session {
        let mask = try System.block(SignalSet(SIGINT))
        let outcome = SystemCallFaults.running(
            { pthread_kill(pthread_self(), SIGINT) }, before: name, after: earlier
        ) { Session(words) }
        // The signal is still pending, and would end this process.
        let signal = try System.nextSignal(of: SignalSet(SIGINT), milliseconds: 0)
        #expect(signal?.number == SIGINT)
        try System.setMask(mask)
        return try outcome.result.get()
    }

    /// A signal that arrives when the store already has its name ends the comparison, and the store is complete.
    @Test func afterTheRestoration() throws {
        try withStore { root in
            let words = ["backup", "restore", "\(root)/saved", "\(root)/new"]
            #expect(Session("backup", "create", "\(root)/store", "--output", "\(root)/saved").status == 0)
            // The first rename publishes device.json.
            let session = try interrupted(before: .renameat2, after: 1, words)
            #expect(session.status == 128 + SIGINT && session.output == "")
            #expect(session.messages == "purgefs: interrupted; \(root)/new has been restored, and is complete\n")
            #expect(Session("check", "\(root)/new").status == 0)
        }
    }

    @Test func beforeTheStoreHasItsName() throws {
        try withStore { root in
            #expect(Session("backup", "create", "\(root)/store", "--output", "\(root)/saved").status == 0)
            let session = try interrupted(
                before: .syncfs, ["backup", "restore", "\(root)/saved", "\(root)/new"])
            #expect(session.status == 128 + SIGINT)
            #expect(session.messages == "purgefs: cannot restore: interrupted; nothing was left behind\n")
            let left = try FileDescriptor.open(root, O_RDONLY | O_DIRECTORY).names().count
            #expect(left == 2)
        }
    }

    @Test(arguments: [true, false]) func endOfACreation(isPublished: Bool) throws {
        try withStore { root in
            let session = try interrupted(
                before: isPublished ? .renameat2 : .fsync,
                ["backup", "create", "\(root)/store", "--output", "\(root)/saved"])
            #expect(session.status == 128 + SIGINT)
            let left =
                isPublished
                ? "interrupted; \(root)/saved is complete" : "cannot back up: interrupted; nothing was left behind"
            #expect(session.messages == "purgefs: \(left)\n")
            let names = try FileDescriptor.open(root, O_RDONLY | O_DIRECTORY).names().count
            #expect(names == (isPublished ? 2 : 1))
        }
    }
}
