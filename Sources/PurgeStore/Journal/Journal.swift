import CSQLite
import Glibc
import PurgeModel
import PurgeSystem
import Synchronization

/// STORE/journal.sqlite: a store's events and samples across mounts, and when each file was last used. Workers never use it,
/// since a call may wait for the disk.
public final class Journal: Sendable {
    /// The number of events beyond which the oldest are dropped.
    public static let capacity: Int64 = 1_000_000
    /// How many milliseconds a daemon waits for another program's lock. It tries again every second.
    private static let patience: Int32 = 1000
    /// The longest journal in pages that an opening checks as a whole: 16 MiB.
    private static let pagesChecked: Int64 = 4096
    /// How many damaged or lost journals are replaced. A disk that keeps damaging them cannot hold a journal.
    private static let mostDamages = 3
    /// The most recoveries in one use: a stray log is kept aside, and then a damaged journal.
    private static let mostRecoveries = 2

    private struct State {
        /// nil while no journal is open.
        var database: Database?
        /// The file that `database` has open, or had open last.
        var file: JournalFiles.FileIdentity?
        var lastSequence: Int64 = 0
        /// The last number in the damaged journals that were replaced. New events get higher numbers, so that readers that
        /// continue after this number get them.
        var floor: Int64 = 0
        /// Released after the database, because closing any descriptor of the file drops the process's locks on it.
        var reserve: JournalReserve?
        var isClosed = false
        var bounds = JournalBounds()
        /// The number of last uses; nil if they must be counted.
        var lastUses: Int64?
        /// Damage not reported yet, and the number of journals that were damaged or lost.
        var damage: [JournalDamage] = []
        var damages = 0
        var openingFailure: StoreError?
    }
    private let state: Mutex<State>
    /// Samples waiting to be written. This lock comes after `state`.
    private let held = Mutex(HeldSamples())
    private let place: StoreDirectory
    private let capacity: Int64
    /// Whether a damaged journal is kept aside and replaced.
    private let replacesDamaged: Bool
    /// Whether the journal was opened for reading. Callers then write nothing to it.
    public let isForReading: Bool
    /// Whether the journal still had its rollback journal. Closing removes that file, so the last writer was killed.
    let wasLeftOpen: Bool

    private init(
        _ state: sending State, _ place: StoreDirectory, capacity: Int64, isForReading: Bool = false,
        replacesDamaged: Bool = false, wasLeftOpen: Bool = false
    ) {
        self.state = Mutex(state)
        self.isForReading = isForReading
        self.replacesDamaged = replacesDamaged
        self.wasLeftOpen = wasLeftOpen
        self.place = place
        self.capacity = capacity
    }

    /// Opens the journal, and creates it if there is none. A damaged journal is an error and stays unchanged. With
    /// `toleratingFullDisk`, each later use tries again to open a journal for which the disk has no room, because files can be
    /// deleted without a journal. With `replacingDamaged`, a journal found damaged now or later is kept aside and a new one
    /// begun (`takeDamage`). Another program's database, an entry that is not a plain file, and a journal of a newer version
    /// are still errors.
    public static func open(
        in store: Store, toleratingFullDisk: Bool = false, replacingDamaged: Bool = false
    ) throws(StoreError) -> Journal {
        try open(
            in: store, capacity: capacity, toleratingFullDisk: toleratingFullDisk, replacingDamaged: replacingDamaged)
    }

    static func open(
        in store: Store, capacity: Int64, toleratingFullDisk: Bool = false, replacingDamaged: Bool = false
    ) throws(StoreError) -> Journal {
        let journal = Journal(
            State(), store.place, capacity: capacity, replacesDamaged: replacingDamaged,
            wasLeftOpen: hasRollback(store.place))
        do throws(StoreError) {
            _ = try journal.makeReady()
        } catch {
            guard toleratingFullDisk && error.isForLackOfRoom else { throw error }
            journal.state.withLock { $0.openingFailure = error }
        }
        return journal
    }

    private static func hasRollback(_ place: StoreDirectory) -> Bool {
        do throws(Errno) {
            return try place.descriptor.kind(of: JournalSchema.rollbackName) != nil
        } catch { return false }
    }

    /// Why the journal could not be opened at first; nil if it could. Each later use tries again.
    public var openingFailure: StoreError? { state.withLock { $0.openingFailure } }

    /// Returns the number of the newest event, or of the newest readable one in a damaged journal, which stays unchanged; 0 if
    /// there is no journal.
    public static func lastSequence(in store: Store) throws(StoreError) -> Int64 {
        do throws(Errno) {
            if try store.place.descriptor.kind(of: JournalSchema.fileName) == nil { return 0 }
        } catch {}  // opening it fails as well
        var state = State()
        defer { close(&state) }
        do throws(DatabaseError) {
            try open(store.place, &state)
            return state.lastSequence
        } catch {
            close(&state)
            if error.isReplaceable { return JournalFiles(store.place).lastReadable() }
            throw error.error(path: store.place.pathOf(JournalSchema.fileName), store: store.path)
        }
    }

    /// Opens the database. With `checking`, reads all of it, unless it is so long that the delay would be noticed.
    private static func open(
        _ place: StoreDirectory, checking: Bool = false, _ state: inout State
    ) throws(DatabaseError) {
        try JournalFiles(place).check()
        let (database, isNew) = try JournalSchema.openOrMake(
            place.databasePlace(of: JournalSchema.fileName), patience: patience, durably: !place.isTemporary)
        if checking, !isNew, try database.number("PRAGMA page_count") ?? 0 <= pagesChecked {
            try JournalSchema.checkContent(of: database)
        }
        let last = max(try EventRow.lastSequence(in: database), state.floor)
        (state.database, state.file, state.lastSequence) = (database, JournalFiles(place).identity, last)
        (state.reserve, state.lastUses) = (JournalReserve(place), nil)
        state.reserve?.keep()
    }

    /// Opens the journal of a store that no daemon holds, for reading. Nothing in the store changes. Returns an empty journal
    /// if the store has none.
    public static func openForReading(in store: Store) throws(StoreError) -> Journal {
        do throws(DatabaseError) {
            try JournalFiles(store.place).check()
            let found = try JournalFiles(store.place).openAtRest()
            let database = if let found { found } else { try JournalSchema.openForWriting(.memory) }
            return Journal(
                State(database: database, lastSequence: try EventRow.lastSequence(in: database)), store.place,
                capacity: capacity, isForReading: true)
        } catch { throw error.error(path: store.place.pathOf(JournalSchema.fileName), store: store.path) }
    }

    deinit { state.withLock { Self.close(&$0) } }

    /// The number of the newest event, even of one in a journal that was replaced; 0 if there is none.
    public var lastSequence: Int64 { state.withLock { $0.lastSequence } }

    /// Opens the journal unless it is open. Returns the number of the newest event.
    public func makeReady() throws(StoreError) -> Int64 {
        try withState { (state) throws(DatabaseError) in
            _ = try database(&state)
            return state.lastSequence
        }
    }

    /// Adds events and the held samples, all or none. The caller has set `seq` in rising order.
    public func append(_ events: [Event]) throws(StoreError) {
        guard let last = events.last?.seq else { return }
        try withState { (state) throws(DatabaseError) in
            let database = try database(&state)
            let before = state.lastSequence
            let room = try Self.room(database, &state)
            let parts = JournalRoom.parts(of: events)
            let held = held.withLock { $0 }
            // Makes room in steps before the transaction: after a bound was lowered, nearly all events may have to go.
            if let first = parts.first { try room.make(for: first) }
            try database.transaction { () throws(DatabaseError) in
                let insertion = try database.prepare(EventRow.insertion())
                for part in parts {
                    try room.make(for: part)
                    for event in part.events { try EventRow.insert(event, with: insertion) }
                }
                try room.keep(capacity, before: before, last: last)
                if !held.samples.isEmpty { try room.add(held.samples) }
            }
            self.held.withLock { $0.forget(upTo: held.end) }
            state.lastSequence = max(before, last)
            state.reserve?.keep()
        }
    }

    /// Sets the bounds and drops the oldest events and samples beyond them, over several calls if necessary. `now` is the
    /// device's time.
    public func keep(within bounds: JournalBounds, at now: Instant) throws(StoreError) {
        try withState { (state) throws(DatabaseError) in
            state.bounds = bounds
            guard bounds.recordsEvents else { return }
            let database = try database(&state)
            let room = try Self.room(database, &state)
            try room.shrink()
            if bounds.age.seconds > 0 {
                try room.dropEvents(before: now.advanced(by: TimeSpan(seconds: -bounds.age.seconds)).iso8601)
            }
        }
    }

    /// Closes the journal as one file, without reserve and rollback journal; later calls throw.
    public func close() { state.withLock { Self.close(&$0) } }

    func withDatabase<Result: Sendable>(
        _ body: (Database) throws(DatabaseError) -> Result
    ) throws(StoreError) -> Result {
        try withState { (state) throws(DatabaseError) in try body(try database(&state)) }
    }

    /// Keeps samples until the next events or `writeHeld`, so that they need no transaction of their own.
    public func hold(_ samples: [StorageSample]) { held.withLock { $0.add(samples) } }

    /// Whether samples wait to be written.
    public var holdsSamples: Bool { held.withLock { !$0.samples.isEmpty } }

    /// Writes the waiting samples without waiting for an event.
    public func writeHeld() throws(StoreError) {
        guard holdsSamples else { return }
        try withState { (state) throws(DatabaseError) in
            let database = try database(&state)
            let (held, room) = (held.withLock { $0 }, try Self.room(database, &state))
            try database.transaction { () throws(DatabaseError) in try room.add(held.samples) }
            self.held.withLock { $0.forget(upTo: held.end) }
        }
    }

    /// Runs `body` in one transaction.
    func changeLastUses(_ body: (Database) throws(DatabaseError) -> Void) throws(StoreError) {
        try withState { (state) throws(DatabaseError) in
            state.lastUses = nil
            let database = try database(&state)
            try database.transaction { () throws(DatabaseError) in try body(database) }
            if state.bounds.recordsEvents { try Self.room(database, &state).shrink() }
        }
    }

    private static func room(_ database: Database, _ state: inout State) throws(DatabaseError) -> JournalRoom {
        let lastUses = if let known = state.lastUses { known } else { try LastUseRow.count(in: database) }
        state.lastUses = lastUses
        return JournalRoom(database, size: state.bounds.size, lastUses: lastUses)
    }

    private func withState<Result: Sendable>(
        _ body: (inout State) throws(DatabaseError) -> Result
    ) throws(StoreError) -> Result {
        for _ in 0..<Self.mostRecoveries {
            do {
                return try state.withLock { (state) throws(DatabaseError) in try body(&state) }
            } catch {
                guard try recovers(from: error) else { throw failure(error) }
            }
        }
        do {
            return try state.withLock { (state) throws(DatabaseError) in try body(&state) }
        } catch { throw failure(error) }
    }

    private func failure(_ error: DatabaseError) -> StoreError {
        error.error(path: place.pathOf(JournalSchema.fileName), store: place.path)
    }

    /// Recovers from an error, if need be by keeping the journal aside. Returns whether a journal can be used again.
    private func recovers(from error: DatabaseError) throws(StoreError) -> Bool {
        guard replacesDamaged else { return false }
        if isReplacedAfterLoss() { return true }
        if error.code == SQLITE_ERROR, isEmpty { return try replace(after: .emptied) }
        guard error.isReplaceable else { return false }
        return try keepsStrayLog() ? true : replace(after: error)
    }

    /// Keeps a write-ahead log aside that SQLite would write into the journal, which itself may be sound. Returns whether there
    /// was one.
    private func keepsStrayLog() throws(StoreError) -> Bool {
        try state.withLock { (state) throws(StoreError) in
            guard !state.isClosed, JournalFiles(place).hasStrayLog else { return false }
            (state.database, state.reserve) = (nil, nil)
            let aside = try place.nameAside(for: JournalSchema.fileName, .foreign)
            try place.keepJournal(as: aside, parts: [JournalSchema.logPart])
            state.damage.append(JournalDamage(ofLogKeptAs: aside + JournalSchema.logPart, in: place))
            return true
        }
    }

    /// Closes the database if another program has removed or replaced its file, so that the next use opens the new file or
    /// creates one. Returns whether it did.
    private func isReplacedAfterLoss() -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.database != nil, state.damages < Self.mostDamages,
                let file = state.file, JournalFiles(place).haveLost(file)
            else { return false }
            (state.database, state.reserve) = (nil, nil)
            state.damage.append(JournalDamage(ofLostIn: place))
            state.damages += 1
            return true
        }
    }

    /// Whether another program has emptied the database.
    private var isEmpty: Bool {
        state.withLock { state in
            do { return try state.database.map(JournalSchema.isEmpty) ?? false } catch { return false }
        }
    }

    /// Keeps the damaged journal aside. Returns whether a new one can take its place.
    private func replace(after error: DatabaseError) throws(StoreError) -> Bool {
        try state.withLock { (state) throws(StoreError) in
            guard !state.isClosed, state.damages < Self.mostDamages else { return false }
            (state.database, state.reserve) = (nil, nil)
            let (written, isInUse) = (state.lastSequence, state.file != nil || state.openingFailure != nil)
            let last = max(written, JournalFiles(place).lastReadable())
            let aside = try place.nameAside(for: JournalSchema.fileName)
            try place.keepJournal(as: aside)
            state.damages += 1
            (state.floor, state.lastSequence) = (last, last)
            var damage = JournalDamage(error, keptAs: aside, in: place)
            // While the journal is in use, the numbers after the last one written may have been given to events.
            let event = damage.event(numbered: isInUse ? written : last + 1, in: place)
            if begins(with: event, &state) { damage.lack = nil }
            state.damage.append(damage)
            return true
        }
    }

    /// Begins the new journal with an event about the events that it lacks, so that neither this event nor the floor is lost if
    /// the mount fails. Returns false if that is not possible, for example on a full disk.
    private func begins(with event: Event, _ state: inout State) -> Bool {
        guard event.seq > 0, state.bounds.recordsEvents else { return false }
        do throws(DatabaseError) {
            let insertion = try database(&state).prepare(EventRow.insertion())
            try EventRow.insert(event, with: insertion)
            state.lastSequence = max(state.lastSequence, event.seq)
            return true
        } catch { return false }
    }

    var wasDamaged: Bool { state.withLock { $0.damages > 0 } }

    /// Returns the damage and losses found since the previous call.
    public func takeDamage() -> [JournalDamage] {
        state.withLock { state in
            defer { state.damage = [] }
            return state.damage
        }
    }

    private func database(_ state: inout State) throws(DatabaseError) -> Database {
        if state.isClosed { throw .closed }
        if let database = state.database { return database }
        try Self.open(place, checking: replacesDamaged && state.damages == 0, &state)
        guard let database = state.database else { throw .closed }
        return database
    }

    private static func close(_ state: inout State) {
        state.isClosed = true
        guard let database = state.database else { return }
        state.database = nil
        do {
            try database.transaction { state.reserve?.release() }
            // Removes the rollback journal.
            try database.execute("PRAGMA journal_mode = DELETE")
        } catch {
            // Nothing is lost: the next opening uses the reserve and the rollback journal that remain.
        }
    }
}
