import CSQLite
import PurgeSystem

extension StoreDirectory {
    func inspectJournal(repairing: Bool) throws(StoreError) -> StoreProblem? {
        guard try names().contains(JournalSchema.fileName), let fault = journalFault() else { return nil }
        let error = fault.error(path: pathOf(JournalSchema.fileName), store: path)
        var problem = StoreProblem(error, isRepairable: fault.isDamage)
        if repairing && fault.isDamage { problem.repair = try salvageJournal().sentence }
        return problem
    }

    private func journalFault() -> DatabaseError? {
        do {
            try checkJournalIsFile()
            guard let database = try openJournalAtRest() else { return nil }
            try JournalSchema.checkContent(of: database)
            return nil
        } catch { return error }
    }

    /// Keeps a damaged journal aside, and makes a new one with what can still be read. It must be open nowhere else in this
    /// process.
    func salvageJournal() throws(StoreError) -> SalvagedJournal {
        let name = JournalSchema.fileName
        let (new, aside) = ("\(name).new", try nameAside(for: name))
        func keepAside(_ part: String) throws(Errno) {
            try System.rename(at: descriptor.raw, name + part, to: descriptor.raw, aside + part)
        }
        let saved: Int64
        do throws(Errno) {
            // With these, SQLite could not open the journal to read it.
            for part in Self.journalParts where isOdd(name + part) { try keepAside(part) }
        } catch { throw .failed("the damaged journal cannot be kept aside", path: pathOf(aside), error) }
        do {
            for part in [""] + Self.journalParts { try remove(new + part) }
        } catch { throw .failed("what an earlier repair left cannot be removed", path: pathOf(new), error) }
        do {
            saved = try JournalSalvage.run(from: absolutePathOf(name), to: absolutePathOf(new))
        } catch { throw error.error(path: pathOf(new), store: path) }
        do throws(Errno) {
            // The parts that SQLite would apply to the new file, or delete, come first.
            for part in Self.journalParts where try descriptor.kind(of: name + part) != nil { try keepAside(part) }
            try keep(name, as: aside)
            try System.rename(at: descriptor.raw, new, to: descriptor.raw, name)
            try System.sync(descriptor.raw)
        } catch { throw .failed("the damaged journal cannot be kept aside", path: pathOf(aside), error) }
        return SalvagedJournal(aside: aside, events: saved)
    }
}

/// What has become of a damaged journal.
struct SalvagedJournal {
    /// The name that it has in the store now.
    var aside: String
    /// How many of its events are in the new one.
    var events: Int64

    var sentence: String {
        "The damaged journal is now `\(aside)`; \(events) events could be read and are in the new one."
    }
}
