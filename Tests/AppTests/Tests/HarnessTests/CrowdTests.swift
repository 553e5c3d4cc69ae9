import ContainerTesting
import Foundation
import Testing

private let count = ProcessInfo.processInfo.environment["HARNESS_CROWD"].flatMap(Int.init) ?? 0

/// Tests wait for their turn if there are too few descriptors for all containers. `check` runs this suite with few descriptors.
@Suite(.container, .enabled(if: count > 0)) struct CrowdTests {
    @Test(arguments: 0..<count) func each(number: Int) async throws {
        let container = try #require(Container.current)
        try Data(count: number).write(to: container.documents.appendingPathComponent("a"))
        try await Task.sleep(for: .milliseconds(100))
        // A nested container does not queue behind waiting tests.
        try await withContainer { inner in
            #expect(inner !== container)
            let data = try Data(contentsOf: container.documents.appendingPathComponent("a"))
            #expect(data.count == number)
        }
    }
}
