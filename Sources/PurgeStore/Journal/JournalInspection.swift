import CSQLite
import PurgeSystem

extension StoreDirectory {
    func inspectJournal(repairing: Bool) throws(StoreError) -> StoreProblem? {
        guard try names().contains(JournalSchema.fileName), let fault = journalFault() else { return nil }
        let error = fault.error(path: pathOf(JournalSchema.fileName), store: path)
        var problem = StoreProblem(error, isRepairable: fault.isDamage)
        guard repairing && fault.isDamage else { return problem }
        problem.repair = try salvageJournal(isForeign: fault.isForeign)
        return problem
    }

    private func journalFault() -> DatabaseError? {
        do {
            try JournalFiles(self).check()
            guard let database = try JournalFiles(self).openAtRest() else { return nil }
            try JournalSchema.checkContent(of: database)
            return nil
        } catch { return error }
    }

    /// Keeps aside a damaged or foreign journal, and creates a new one from the rows that can still be read. The journal must
    /// not be open anywhere else in this process. If that fails, for example for lack of room, removes the new journal again.
    /// Returns a sentence about the repair.
    private func salvageJournal(isForeign: Bool) throws(StoreError) -> String {
        let (name, files) = (JournalSchema.fileName, JournalFiles(self))
        let aside = try nameAside(for: name, isForeign ? .foreign : .damaged)
        // SQLite cannot open the journal for reading while an entry beside it is not a plain file.
        try keepJournal(as: aside, parts: Self.journalParts.filter { files.oddKind(of: name + $0) != nil })
        if files.hasStrayLog { try keepJournal(as: aside, parts: [JournalSchema.logPart]) }
        let new = "\(name).new"
        do throws(Errno) {
            try removeJournal(new)
        } catch { throw .failed("the leftovers of an earlier repair cannot be removed", path: pathOf(new), error) }
        let saved: Int64
        do {
            saved = try JournalSalvage.run(from: databasePlace(of: name), to: databasePlace(of: new))
        } catch {
            // If this fails, the next repair removes the rest.
            do throws(Errno) { try removeJournal(new) } catch {}
            throw error.error(path: pathOf(new), store: path)
        }
        try keepJournal(as: aside)
        do throws(Errno) {
            try System.rename(at: descriptor.raw, new, to: descriptor.raw, name)
            try System.sync(descriptor.raw)
        } catch { throw .failed("the new journal cannot take the old one's place", path: pathOf(new), error) }
        return isForeign
            ? "It is now `\(aside)`; \(saved) events of purgefs could be read in it and are in the new journal."
            : "The damaged journal is now `\(aside)`; \(saved) events could be read and are in the new one."
    }

    /// Renames the journal and the files beside it. The parts that SQLite would apply to a new file, or delete, come first.
    func keepJournal(as aside: String, parts: [String] = journalParts + [""]) throws(StoreError) {
        do throws(Errno) {
            for part in parts where try descriptor.kind(of: JournalSchema.fileName + part) != nil {
                try System.rename(
                    at: descriptor.raw, JournalSchema.fileName + part, to: descriptor.raw, aside + part)
            }
            try System.sync(descriptor.raw)
        } catch {
            var failure = StoreError.failed("the damaged journal cannot be kept aside", path: pathOf(aside), error)
            failure.isForLackOfRoom = error.isForLackOfRoom
            throw failure
        }
        JournalFiles(self).removeOldDamaged()
    }

    private func removeJournal(_ name: String) throws(Errno) {
        for part in [""] + Self.journalParts { try remove(name + part) }
    }
}
