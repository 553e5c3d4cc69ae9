import CSQLite
import PurgeSystem

extension StoreDirectory {
    func inspectJournal(repairing: Bool) throws(StoreError) -> StoreProblem? {
        guard try names().contains(JournalSchema.fileName), let fault = journalFault() else { return nil }
        let error = fault.error(path: pathOf(JournalSchema.fileName), store: path)
        var problem = StoreProblem(error, isRepairable: fault.isDamage)
        guard repairing && fault.isDamage else { return problem }
        do throws(SalvageFailure) {
            problem.repair = try salvageJournal(isForeign: fault.isForeign).sentence
        } catch { throw error.error }
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

    /// Keeps a damaged journal aside, or what is not one of purgefs, and makes a new one with what can still be read. It must
    /// be open nowhere else in this process. A new one for which the disk has no room is removed again.
    func salvageJournal(isForeign: Bool = false) throws(SalvageFailure) -> SalvagedJournal {
        let (name, files) = (JournalSchema.fileName, JournalFiles(self))
        let aside = try SalvageFailure.nameAside(for: name, isForeign ? .foreign : .damaged, in: self)
        let new = "\(name).new"
        func keepAside(_ part: String) throws(Errno) {
            try System.rename(at: descriptor.raw, name + part, to: descriptor.raw, aside + part)
        }
        let saved: Int64
        do throws(Errno) {
            // With these, SQLite could not open the journal to read it.
            for part in Self.journalParts where files.oddKind(of: name + part) != nil { try keepAside(part) }
            if files.hasStrayLog { try keepAside("-wal") }
        } catch { throw .notKept(pathOf(aside), error) }
        do throws(Errno) {
            try removeJournal(new)
        } catch { throw .notRemoved(pathOf(new), error) }
        do {
            saved = try JournalSalvage.run(from: databasePlace(of: name), to: databasePlace(of: new))
        } catch {
            // What is left of it is removed by the next salvage, if not now.
            do throws(Errno) { try removeJournal(new) } catch {}
            throw .notMade(pathOf(new), for: self, error)
        }
        do throws(Errno) {
            // The parts that SQLite would apply to the new file, or delete, come first.
            for part in Self.journalParts where try descriptor.kind(of: name + part) != nil { try keepAside(part) }
            try keep(name, as: aside)
            try System.rename(at: descriptor.raw, new, to: descriptor.raw, name)
            try System.sync(descriptor.raw)
        } catch { throw .notKept(pathOf(aside), error) }
        files.removeOldDamaged()
        return SalvagedJournal(aside: aside, events: saved, isForeign: isForeign)
    }

    private func removeJournal(_ name: String) throws(Errno) {
        for part in [""] + Self.journalParts { try remove(name + part) }
    }
}

/// Why a damaged journal is left as it is.
struct SalvageFailure: Error {
    let error: StoreError
    /// The disk is full: it can be salvaged once there is room.
    let isForLackOfRoom: Bool

    init(_ error: StoreError, isForLackOfRoom: Bool = false) {
        (self.error, self.isForLackOfRoom) = (error, isForLackOfRoom)
    }

    static func notKept(_ path: String, _ error: Errno) -> SalvageFailure {
        SalvageFailure(.failed("the damaged journal cannot be kept aside", path: path, error))
    }
    static func notRemoved(_ path: String, _ error: Errno) -> SalvageFailure {
        SalvageFailure(.failed("what an earlier repair left cannot be removed", path: path, error))
    }
    static func notMade(_ new: String, for place: StoreDirectory, _ error: DatabaseError) -> SalvageFailure {
        guard error.isForLackOfRoom else { return SalvageFailure(error.error(path: new, store: place.path)) }
        let path = place.pathOf(JournalSchema.fileName)
        let failure = DatabaseError.noRoomToSalvage.error(path: path, store: place.path)
        return SalvageFailure(failure, isForLackOfRoom: true)
    }

    static func nameAside(
        for name: String, _ kind: StoreDirectory.KeptAside, in place: StoreDirectory
    ) throws(SalvageFailure) -> String {
        do throws(StoreError) { return try place.nameAside(for: name, kind) } catch { throw SalvageFailure(error) }
    }
}

/// What has become of a damaged journal, or of what was not one of purgefs.
struct SalvagedJournal {
    /// The name that it has in the store now.
    var aside: String
    /// How many of its events are in the new one.
    var events: Int64
    var isForeign = false

    var sentence: String {
        isForeign
            ? "It is now `\(aside)`; \(events) events of purgefs could be read in it and are in the new journal."
            : "The damaged journal is now `\(aside)`; \(events) events could be read and are in the new one."
    }
}
