import PurgeCommandLine
import PurgeModel
import PurgeStore

/// What is asked of a journal about names.
protocol NameEvents {
    func events(_ query: JournalReader.Query) throws(CommandFailure) -> [Event]
    /// Those of some paths that have events, or to which events have brought something.
    func having(events paths: [String], to isTarget: Bool) throws(CommandFailure) -> [String]
    /// Paths with events that are next to a text in the order of their bytes.
    func paths(near text: String, backwards: Bool, limit: Int) throws(CommandFailure) -> [String]
}

/// The journal of a store.
struct NameJournal: NameEvents {
    private let reader: JournalReader
    private let known = Known()

    /// Answers of `having`: the folders of a deep path are asked about again for each life of its name.
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
