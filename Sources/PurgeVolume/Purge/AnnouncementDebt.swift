import PurgeStore
import PurgeSystem

/// Purged names that the kernel must be told about before the caller of the operation learns the outcome.
///
/// Every purge needs a debt to add its names to. A debt cannot be copied, and only two functions create one. `Volume.answering`
/// releases the outcome of a call only when the debt is paid (`UnpaidAnswer`). `PurgedNames.awaitingAnnouncements` waits before
/// it returns. Dropping an unpaid debt is a bug. `deinit` then announces the names and reports the bug.
public struct AnnouncementDebt: ~Copyable {
    enum Payment {
        /// Names are collected and announced together, along with the answer.
        case answer
        /// Names are announced as they come, and the caller waits for the last of them.
        case wait
    }

    private let names: PurgedNames
    private let payment: Payment
    private(set) var removals: [Removal] = []
    private var isAwaited = false
    /// The batch of the reclaimer whose room the call has used, or in spite of which it lacked room. These files are gone, too,
    /// when its caller learns the outcome.
    var batch: UInt64?

    fileprivate init(_ names: PurgedNames, paidBy payment: Payment) {
        self.names = names
        self.payment = payment
    }

    @usableFromInline
    init(answering volume: Volume) { self.init(volume.purgedNames, paidBy: .answer) }

    deinit {
        guard !isNothing else { return }
        names.announce(removals)
        names.port.report(
            StoreError(
                "the announcement of purged names was not "
                    + "awaited", path: names.store.path, advice: ""))
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

    @usableFromInline
    func awaitReclaimer() { if let batch { Reclaimer(core: names.core).awaitBatch(batch) } }

    /// Announces the names and then calls `answer`, or calls it earlier if the kernel cannot be told in time: see
    /// `Announcements`.
    @usableFromInline
    consuming func pay(_ answer: @escaping @Sendable () -> Void) {
        let owed = removals
        removals = []
        names.announce(owed, then: answer)
    }

    /// Waits until the caller's names have been announced. Announcements are made in order, so this function adds an empty one
    /// and waits for it.
    fileprivate consuming func payByWaiting() {
        isAwaited = false
        names.awaitAnnouncements()
    }
}

/// The outcome of a call that may have purged. It is released only by paying the debt for the names that the call has purged.
@frozen
public struct UnpaidAnswer<Value: Sendable>: ~Copyable {
    @usableFromInline let outcome: Result<Value, Errno>
    @usableFromInline let debt: AnnouncementDebt

    @usableFromInline
    init(outcome: Result<Value, Errno>, debt: consuming AnnouncementDebt) {
        self.outcome = outcome
        self.debt = debt
    }

    /// Passes the outcome to `answer` if nothing is owed. Otherwise another thread passes it to the function that `pending`
    /// makes, once the purged names are gone for every process or cannot be announced in time.
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
    /// Runs a call that may purge and whose caller waits for the answer.
    @inlinable
    public func answering<Value>(
        _ body: (inout AnnouncementDebt) throws(Errno) -> Value
    ) -> UnpaidAnswer<Value> {
        var debt = AnnouncementDebt(answering: self)
        let outcome: Result<Value, Errno>
        do throws(Errno) { outcome = .success(try body(&debt)) } catch { outcome = .failure(error) }
        debt.awaitReclaimer()
        return UnpaidAnswer(outcome: outcome, debt: debt)
    }
}

extension PurgedNames {
    /// Runs `body`, and returns when every name that it has purged is gone for every process. The kernel is told about one
    /// batch while the next is removed. Nothing waits between batches, because a call that holds the kernel's lock on a
    /// directory may itself wait for a name of a later batch.
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
