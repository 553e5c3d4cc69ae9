import Foundation
import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeBackup

/// Concurrent attempts to make the same directory.
struct UnfinishedDirectoryTests {
    /// A restoration on its own thread that pauses before its sync until it is released.
    private final class Other: Sendable {
        private let hasStopped = DispatchSemaphore(value: 0)
        private let mayGoOn = DispatchSemaphore(value: 0)
        private let group = Mutex<Workers.Group?>(nil)
        private let result = Mutex<Result<Void, any Error>?>(nil)

        /// Starts the restoration, and returns when it has paused or failed.
        func begin(_ restore: @escaping @Sendable () throws -> Void) {
            let started = Workers.start(1) { [self] _ in
                let outcome = SystemCallFaults.running(
                    {
                        self.hasStopped.signal()
                        self.mayGoOn.wait()
                    }, before: .syncfs, in: restore)
                result.withLock { $0 = outcome.result }
                hasStopped.signal()
            }
            group.withLock { $0 = started }
            hasStopped.wait()
        }

        func end() throws -> Result<Void, any Error>? {
            mayGoOn.signal()
            try group.withLock { $0 }?.join()
            return result.withLock { $0 }
        }
    }

    private static func restore(_ backup: String, to store: String) throws {
        _ = try BackupRestoration(backup, BackupProgress(path: store) { _ in }).run(to: store)
    }

    /// Whenever the second restoration starts, exactly one of the two makes the store, and the other leaves nothing behind.
    @Test func oneSucceeds() throws {
        try SampleContainer.with { container in
            try Files.write("content", to: container.pathOf("a"))
            let backup = "\(container.path)/../backup"
            _ = try BackupCreation(container.source, SampleContainer.header, BackupProgress(path: backup) { _ in })
                .run(to: backup)
            let stores = "\(container.path)/../stores"
            try Files.makeDirectory(stores)
            let calls = SystemCallFaults.none.during { try Self.restore(backup, to: "\(stores)/alone") }.calls
            try #require(calls.contains(.flock) && calls.contains(.renameat2))
            for (index, name) in calls.enumerated() {
                let store = "\(stores)/\(index)"
                let other = Other()
                let first = SystemCallFaults.running(
                    { other.begin { try Self.restore(backup, to: store) } }, before: name,
                    after: calls[..<index].count { $0 == name }
                ) { try Self.restore(backup, to: store) }
                let second = try other.end()
                let successes = [first.result, second].count { (try? $0?.get()) != nil }
                #expect(first.hits == 1 && successes == 1, "before \(name), call \(index): \(first), \(second as Any)")
                let content = try? Files.content("\(store)/container/a")
                #expect(content == Array("content".utf8), "before \(name), call \(index)")
            }
            let names = try Files.names(in: stores)
            #expect(names.allSatisfy { !$0.hasPrefix(".") })
        }
    }

    /// Something else that appears under the name while the directory is created stays.
    @Test(arguments: [true, false]) func somethingElseIsThereMeanwhile(isFolder: Bool) throws {
        try SampleContainer.with { container in
            let kind = UnfinishedDirectory.Kind(what: "the store", suffix: ".unfinished")
            let place = "\(container.path)/place"
            let unfinished = try UnfinishedDirectory(for: place, kind)
            if isFolder { try Files.makeDirectory(place) }
            try Files.write("x", to: isFolder ? "\(place)/x" : place)
            let error = #expect(throws: StoreError.self) { try unfinished.publish("the store") }
            #expect(error?.what == "another process created something there meanwhile")
            unfinished.discard()
            let names = try Files.names(in: container.path)
            #expect(names == ["place"])
        }
    }

    /// A process neither removes nor publishes the directory that another process has made under the same name after the owner
    /// moved the first one away.
    @Test func discardsOnlyItsOwn() throws {
        try SampleContainer.with { container in
            let kind = UnfinishedDirectory.Kind(what: "the store", suffix: ".unfinished")
            let unfinished = try UnfinishedDirectory(for: container.pathOf("place"), kind)
            try Files.rename(container.pathOf(".place.unfinished"), container.pathOf("moved"))
            try Files.makeDirectory(container.pathOf(".place.unfinished"))
            unfinished.discard()
            #expect(throws: StoreError.self) { try unfinished.publish("the store") }
            let names = try Files.names(in: container.path).sorted()
            #expect(names == [".place.unfinished", "moved"])
        }
    }
}
