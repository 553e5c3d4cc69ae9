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
