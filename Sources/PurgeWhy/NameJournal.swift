import PurgeCommandLine
import PurgeModel
import PurgeStore

/// The queries about names that an inquiry needs from a journal.
protocol NameEvents {
    func events(_ query: JournalReader.Query) throws(CommandFailure) -> [Event]
    /// Returns the paths among `paths` that have events, or with `isTarget` the ones that are targets of renames.
    func having(events paths: [String], to isTarget: Bool) throws(CommandFailure) -> [String]
    /// Returns the paths with events that come next after `text` in byte order, or next before it with `backwards`.
    func paths(near text: String, backwards: Bool, limit: Int) throws(CommandFailure) -> [String]
}

struct NameJournal: NameEvents {
    private let reader: JournalReader
    private let known = Known()

    /// A cache of the answers of `having`, because each life of a name asks again about the folders of a deep path.
    private final class Known {
        struct Question: Hashable {
            var paths: [String]
            var isTarget: Bool
        }
        var answers: [Question: [String]] = [:]
    }

    init(store: String) throws(CommandFailure) {
        do throws(StoreError) { reader = try JournalReader(storePath: store) } catch { throw Self.failure(error) }
    }

    func events(_ query: JournalReader.Query) throws(CommandFailure) -> [Event] {
        do throws(StoreError) { return try reader.events(query) } catch { throw Self.failure(error) }
    }

    func having(events paths: [String], to isTarget: Bool) throws(CommandFailure) -> [String] {
        let question = Known.Question(paths: paths, isTarget: isTarget)
        if let answer = known.answers[question] { return answer }
        do throws(StoreError) {
            let answer = try reader.having(events: paths, to: isTarget)
            known.answers[question] = answer
            return answer
        } catch { throw Self.failure(error) }
    }

    func paths(near text: String, backwards: Bool, limit: Int) throws(CommandFailure) -> [String] {
        do throws(StoreError) { return try reader.paths(near: text, backwards: backwards, limit: limit) } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: StoreError) -> CommandFailure {
        CommandFailure("cannot read the journal", error)
    }
}
