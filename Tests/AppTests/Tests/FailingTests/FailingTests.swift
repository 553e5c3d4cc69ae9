import ContainerTesting
import ContainerXCTest
import Foundation
import Testing
import XCTest

private let isOn = ProcessInfo.processInfo.environment["FAILING"] != nil

struct Failure: Error {}

/// Tests/AppTests/check examines the output and attachments of these tests.
@Suite(.enabled(if: isOn), .container(total: "64M")) struct FailingTests {
    private func begin() throws -> Container {
        let container = try #require(Container.current)
        try Data(count: 4096).write(to: container.tmp.appendingPathComponent("victim"))
        try container.purge(.tmp)
        return container
    }

    @Test func expectation() throws {
        _ = try begin()
        #expect(Bool(false), "the first one")
        #expect(Bool(false), "the second one")
    }

    @Test func thrown() throws {
        _ = try begin()
        throw Failure()
    }

    @Test func requirement() throws {
        _ = try begin()
        try #require(Bool(false))
    }

    @Test(arguments: ["one", "two"]) func argument(name: String) throws {
        _ = try begin()
        #expect(name == "one")
    }

    @Test func function() async throws {
        try await withContainer(total: "32M") { container in
            try Data(count: 4096).write(to: container.tmp.appendingPathComponent("inner"))
            try container.purge(.tmp)
            #expect(Bool(false))
        }
    }

    @Test func functionWithoutAwait() throws {
        try withContainer(total: "32M") { _ in throw Failure() }
    }

    @Test func leavesFileOpen() throws {
        _ = open(try begin().path + "/Documents/open", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
    }

    @Test(.container(total: "much")) func noContainer() {}

    @Test func knownError() async throws {
        await withKnownIssue {
            try await withContainer(total: "32M") { _ in throw Failure() }
        }
    }

    @Test func known() throws {
        _ = try begin()
        withKnownIssue { #expect(Bool(false)) }
    }
}

final class FailingXCTests: XCTestCase {
    override func setUpWithError() throws { try XCTSkipUnless(isOn) }

    func testAssertion() throws {
        let container = try makeContainer(total: "64M")
        try Data(count: 4096).write(to: container.tmp.appendingPathComponent("victim"))
        try container.purge(.tmp)
        XCTAssertTrue(false)
    }

    func testThrown() throws {
        _ = try makeContainer(total: "64M")
        throw Failure()
    }

    func testFunction() async throws {
        try await withContainer(total: "64M") { _ in throw Failure() }
    }

    func testLeavesFileOpen() throws {
        let container = try makeContainer(total: "64M")
        _ = open(container.path + "/Documents/open", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
    }

    func testPasses() throws { _ = try makeContainer(total: "64M") }
}
