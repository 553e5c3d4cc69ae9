import ContainerTesting
import Foundation
import XCTest

final class WithContainerXCTests: XCTestCase {
    func testWithAwait() async throws {
        let total = try await withContainer(total: "64M") { container in
            XCTAssertTrue(Container.current === container)
            return try container.numbers.total
        }
        XCTAssertEqual(total, 64 << 20)
    }

    func testWithoutAwait() throws {
        try withContainer(total: "64M") { container in
            XCTAssertTrue(Container.current === container)
            XCTAssertEqual(try container.room(), 64 << 20)
        }
    }

    func testSweep() async throws {
        func save(_ text: String, in container: Container) throws {
            try Data(text.utf8).write(to: container.documents.appendingPathComponent("a"), options: .atomic)
        }
        let moments = try await sweep(
            moments: [.error, .full], most: 3, prepare: { try save("old", in: $0) }, { try save("new", in: $0) })
        XCTAssertEqual(moments.count, 4)
        for moment in moments {
            let container = try makeContainer(total: "64M")
            try save("old", in: container)
            let error = try moment.perform(in: container) { try save("new", in: container) }
            let saved = try String(contentsOf: container.documents.appendingPathComponent("a"), encoding: .utf8)
            XCTAssertEqual(saved, error == nil ? "new" : "old", "\(moment)")
        }
    }
}

/// Teardown blocks run before `tearDown`, newest first.
final class OrderXCTests: XCTestCase {
    private var container: Container?

    override func setUpWithError() throws {
        let container = try makeContainer(total: "64M")
        let file = open(container.path + "/Documents/a", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
        addTeardownBlock {
            XCTAssertFalse(container.hasEnded)
            close(file)
        }
        self.container = container
    }

    override func tearDown() { XCTAssertEqual(container?.hasEnded, true) }

    func testIsThere() { XCTAssertEqual(container?.hasEnded, false) }
}
