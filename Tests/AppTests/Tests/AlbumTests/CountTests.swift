import ContainerTesting
import Foundation
import Testing

/// Stands for the app.
private func save(_ count: Int, in container: Container) throws {
    try Data("\(count)".utf8).write(to: container.documents.appendingPathComponent("count"), options: .atomic)
}

@Suite struct CountTests {
    static let device = Container.Settings(total: "64M")

    @Test(
        .container(device),
        arguments: try await sweep(
            moments: [.error, .full], in: device, prepare: { try save(41, in: $0) }, { try save(42, in: $0) }))
    func survives(moment: Container.Moment) throws {
        let container = try #require(Container.current)
        try save(41, in: container)
        let error = try moment.perform(in: container) { try save(42, in: container) }
        let saved = try String(contentsOf: container.documents.appendingPathComponent("count"), encoding: .utf8)
        #expect(saved == "42" || error != nil && saved == "41")
    }
}
