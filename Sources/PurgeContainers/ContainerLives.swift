import PurgeModel
import PurgeStore

/// The UUIDs that the container of a store has had. An update or a deletion of the app gives it another one, and so does a
/// restore; the path of a container in `purgefs run` ends in its UUID.
package struct ContainerLives {
    /// The UUID now; nil if it cannot be read.
    package let present: String?
    private let ends: [String: Event]

    /// The number of newest events of each type that are examined.
    private static let recent = 4096

    /// Reads the settings and the journal of a store. If the journal cannot be read, no earlier UUID is known.
    package init(store: String) {
        present = Self.present(in: store)
        var ends: [String: Event] = [:]
        do throws(StoreError) {
            let journal = try JournalReader(storePath: store)
            for type in [EventType.restore, .app] {
                for event in try journal.events(.init(.whole(type), limit: Self.recent)).reversed() {
                    if let container = event.cause { ends[container.uppercased()] = event }
                }
            }
        } catch {}
        self.ends = ends
    }

    private static func present(in store: String) -> String? {
        do throws(StoreError) {
            return try StoreAtRest.savedSettings(of: store)?.containerID.uppercased()
        } catch { return nil }
    }

    /// Returns the event with which the container lost this UUID: the update or deletion of the app, or the restore from a
    /// backup. Returns nil for the present UUID, and if the journal does not have the event.
    package func end(of container: String) -> Event? { container == present ? nil : ends[container] }

    /// Returns whether the container has, or is known to have had, this UUID.
    package func include(_ container: String) -> Bool { container == present || ends[container] != nil }
}
