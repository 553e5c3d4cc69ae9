import PurgeStore
import PurgeSystem

/// Names that have been purged and of which the kernel has still to be told. Whoever purges owes that to the
/// caller of the operation, before it learns of the outcome.
///
/// Nothing is purged without a debt to add to. A debt cannot be copied, and only `Volume.answering` and
/// `PurgedNames.awaitingAnnouncements` make one: the first hands out the outcome of a call only to whoever pays
/// (`UnpaidAnswer`), the second waits before it returns. A value that is dropped unpaid all the same is a fault,
/// which `deinit` reports, after telling the kernel.
public struct AnnouncementDebt: ~Copyable {
    enum Payment {
        /// Names are collected, and an answer travels with them.
        case answer
        /// Names are told of as they come, and somebody waits for the last of them.
        case wait
    }

    private let names: PurgedNames
    private let payment: Payment
    private(set) var removals: [Removal] = []
    private var isAwaited = false

    fileprivate init(_ names: PurgedNames, paidBy payment: Payment) {
        self.names = names
        self.payment = payment
    }

    @usableFromInline
    init(answering volume: Volume) { self.init(volume.purgedNames, paidBy: .answer) }

    deinit {
        guard !isNothing else { return }
        names.announce(removals)
        names.hooks.report(StoreError("purged names were not waited for", path: names.store.path, advice: ""))
    }

    @usableFromInline
    var isNothing: Bool { removals.isEmpty && !isAwaited }

    mutating func add(_ new: [Removal]) {
        switch payment {
        case .answer: removals += new
        case .wait:
            names.announce(new)
            isAwaited = true
        }
    }

    /// `answer` is called when the kernel has been told, or earlier where it is kept from that: see `Announcements`.
    @usableFromInline
    consuming func pay(_ answer: @escaping @Sendable () -> Void) {
        let owed = removals
        removals = []
        names.announce(owed, then: answer)
    }

    /// Announcements come in order, so that of the caller's own names all have been told when one that comes now has.
    fileprivate consuming func payByWaiting() {
        isAwaited = false
        names.awaitAnnouncements()
    }
}

/// What a call that may have purged has come to. Only paying for what it has purged gives it away.
@frozen
public struct UnpaidAnswer<Value: Sendable>: ~Copyable {
    @usableFromInline let outcome: Result<Value, Errno>
    @usableFromInline let debt: AnnouncementDebt

    @usableFromInline
    init(outcome: Result<Value, Errno>, debt: consuming AnnouncementDebt) {
        self.outcome = outcome
        self.debt = debt
    }

    /// The outcome goes to `answer` where nothing is owed, and otherwise, on another thread, to what `pending`
    /// has made, once the purged names are gone for everybody.
    @inlinable
    public consuming func pay(
        _ answer: (Result<Value, Errno>) -> Void,
        later pending: () -> @Sendable (Result<Value, Errno>) -> Void
    ) {
        let outcome = outcome
        if debt.isNothing { return answer(outcome) }
        let answer = pending()
        debt.pay { answer(outcome) }
    }
}

extension Volume {
    /// Runs a call that may purge for whoever is waiting for its answer.
    @inlinable
    public func answering<Value>(
        _ body: (inout AnnouncementDebt) throws(Errno) -> Value
    ) -> UnpaidAnswer<Value> {
        var debt = AnnouncementDebt(answering: self)
        let outcome: Result<Value, Errno>
        do throws(Errno) { outcome = .success(try body(&debt)) } catch { outcome = .failure(error) }
        return UnpaidAnswer(outcome: outcome, debt: debt)
    }
}

extension PurgedNames {
    /// Runs `body`, and returns when every name that it has purged is gone for everybody. The kernel is told of
    /// one batch while the next is removed; nothing waits for that between batches, since whoever holds the
    /// kernel's lock of a directory may wait for a name of a later one.
    func awaitingAnnouncements<Value, Failure: Error>(
        _ body: (inout AnnouncementDebt) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var debt = AnnouncementDebt(self, paidBy: .wait)
        let outcome: Result<Value, Failure>
        do throws(Failure) { outcome = .success(try body(&debt)) } catch { outcome = .failure(error) }
        debt.payByWaiting()
        return try outcome.get()
    }
}
