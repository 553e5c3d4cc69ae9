import ContainerTesting
import Foundation
import Testing

/// The Swift counterpart of Tests/MountTests/Programs/harness_test.py and harness.sh: fill, purge, no space, lock, and weeks
/// later.
@Suite(.container(total: "64M", others: "8M"))
struct HarnessTests {
    let container: Container

    init() throws { container = try #require(Container.current) }

    @Test func fillAndNoSpace() throws {
        try container.fill(leaving: "1M")
        #expect(try container.room() == 1_048_576)
        #expect(try container.numbers.important == 1_048_576)
        try write(1_048_576, to: "Documents/fits")
        #expect(try code { try write(1, to: "Documents/more") } == ENOSPC)
        #expect(try container.events(.refused).map(\.path) == ["Documents/more"])
        try container.fill(leaving: .mebibytes(2))
        #expect(try container.room() == 2_097_152)
    }

    @Test func fillOfCaches() throws {
        try container.fill(leaving: 8192, at: container.caches)
        try write(8192, to: "Library/Caches/fits")
        #expect(try code { try write(1, to: "Library/Caches/more") } == ENOSPC)
        let numbers = try container.numbers
        #expect(numbers.opportunistic == 0 && numbers.important > 0)
    }

    @Test func purge() throws {
        try write(20 << 20, to: "Library/Caches/thumbnail")
        try write(4096, to: "tmp/upload")
        try write(4096, to: "Documents/photo")
        #expect(try container.numbers.reclaimable == 20_975_616)
        #expect(try container.plan(.all).map(\.path) == ["tmp/upload", "Library/Caches/thumbnail"])
        #expect(try container.purge(.tmp).map(\.path) == ["tmp/upload"])
        try container.set(others: "+40M")
        let event = try container.expectPurge(of: "Library/Caches/thumbnail")
        #expect(event.reason == "caches" && event.tier == .caches && event.bytes == 20_971_520)
        #expect(names(in: container.caches) == [] && names(in: container.documents) == ["photo"])
        #expect(try container.why("Library/Caches/thumbnail").contains("purged"))
    }

    @Test func lock() throws {
        let secret = container.documents.appendingPathComponent("secret")
        try Data("key".utf8).write(to: secret)
        try container.mark(secret, excluded: true, protection: .complete)
        for name in ["excluded", "isExcludedFromBackup"] { #expect(try container.attribute(name, of: secret) == "1") }
        try container.lock()
        #expect(try container.deviceState == .locked)
        #expect(throws: (any Error).self) { try Data(contentsOf: secret) }
        #expect(try container.events(.protectionDenied, at: secret) != [])
        try container.unlock()
        #expect(try String(contentsOf: secret, encoding: .utf8) == "key")
        try container.mark(secret, protection: .completeWhenUserInactive)
        try container.write("device.inactivity", "5m")
        try container.lock()
        #expect(try String(contentsOf: secret, encoding: .utf8) == "key")
        try container.advance("5m")
        #expect(throws: (any Error).self) { try Data(contentsOf: secret) }
        #expect(try container.deviceState == .locked && container.status.device.inactive == true)
        try write(0, to: "tmp/a")
        try container.reboot()
        #expect(names(in: container.tmp) == [])
        #expect(try container.deviceState == .beforeFirstUnlock)
    }

    @Test func weeksLater() throws {
        let feed = container.documents.appendingPathComponent("feed", isDirectory: true)
        try FileManager.default.createDirectory(at: feed, withIntermediateDirectories: false)
        try container.mark(feed, after: "1w")
        try write(4096, to: "Documents/feed/old")
        let before = try modified("Documents/feed/old")
        try container.advance("3w")
        #expect(abs(before.timeIntervalSince(try modified("Documents/feed/old")) - 3 * 7 * 86400) < 60)
        try write(4096, to: "Documents/feed/new")
        try container.app(.terminate)
        try container.app(.launch)
        #expect(try container.expectPurge(of: "Documents/feed/old").trigger == .policy)
        #expect(names(in: feed) == ["new"])
    }

    @Test func faultsAndStates() throws {
        let folder = container.documents.appendingPathComponent("a", isDirectory: true)
        func make() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }
        try container.fail("mkdir@Documents/*=EPERM", "open=1ms")
        #expect(throws: (any Error).self) { try make() }
        #expect(try container.events(.fault).contains { $0.cause == "mkdir#1" })
        try container.endFaults()
        try make()
        // The state reaches no process, because none is named: the container's own process goes on.
        try container.app(.suspend)
        #expect(try container.read("app.state") == "suspended")
    }

    @Test(.container(others: "16M", thresholds: .off)) func traitsAddUp() throws {
        let numbers = try container.numbers
        #expect(numbers.total == 64 << 20 && numbers.others == 16 << 20 && numbers.opportunistic == 48 << 20)
    }

    @Test(.container(profile: .device, purgeLatency: .seconds(0)), arguments: [1, 2])
    func parameters(number: Int) throws {
        #expect(try container.status.profile == .device)
        #expect(try container.numbers.others == 8 << 20)
        #expect(names(in: container.documents) == [])
        try write(number, to: "Documents/a")
    }

    @Test func programsAndMistakes() throws {
        let outcome = try container.run(["sh", "-c", "cd && pwd -P; echo no >&2; exit 3"])
        #expect(outcome.output == real(container.path) + "\n" && outcome.errors == "no\n" && outcome.status == 3)
        #expect(throws: ContainerError.refused("storage.others", "much", EINVAL)) {
            try container.set(others: "much")
        }
        #expect(throws: ContainerError.self) { try container.fill(leaving: 1000) }
        #expect(throws: ContainerError.self) { try container.fill(leaving: "1x") }
        #expect(throws: ContainerError.outside("../a")) { try container.mark("../a", excluded: true) }
        #expect(throws: ContainerError.outside("/etc/passwd")) { try container.why("/etc/passwd") }
        try write(1, to: "Documents/keep")
        let error = #expect(throws: ContainerError.self) {
            try container.expectPurge(of: "Documents/keep", within: .zero)
        }
        #expect(error?.description.hasPrefix("Documents/keep was not purged. ") == true)
        #expect(throws: ContainerError.cannotRun([], "the name of a program is the first word")) {
            try container.run([])
        }
        #expect(throws: ContainerError.cannotRun(["/no/such"], "No such file or directory")) {
            try container.run(["/no/such"])
        }
    }
}

extension HarnessTests {
    private func write(_ count: Int, to name: String) throws {
        try Data(count: count).write(to: container.url.appendingPathComponent(name))
    }

    /// Returns the errno behind a Foundation error.
    private func code(_ body: () throws -> Void) throws -> Int32 {
        let error = try #require(throws: CocoaError.self, performing: body)
        return try #require(error.underlying as? POSIXError).code.rawValue
    }

    private func modified(_ name: String) throws -> Date {
        let attributes = try FileManager.default.attributesOfItem(atPath: container.path + "/" + name)
        return try #require(attributes[.modificationDate] as? Date)
    }

    private func names(in folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? ["?"]).sorted()
    }

    private func real(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
}
