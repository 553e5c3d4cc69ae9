import Glibc
import PurgeSystem

/// The retries of a call that has found the store and the tree in disagreement.
///
/// A rename, an unlink or a purge in flight may have changed one and not yet the other, so the call looks again. The thread of
/// that operation may need the CPU to make progress, so retries after the first few sleep. If nothing has moved during a whole
/// turn, somebody has changed the store itself, and looking again does not help.
struct Disagreement: ~Copyable {
    /// How long to retry, in nanoseconds.
    private let patience: Int64
    private var turns = 0
    private var deadline: Int64 = 0
    /// Number of moves that had begun when the current turn began, and whether all of them had ended.
    private var moves: UInt64 = 0
    private var wasQuiet = false

    /// Number of turns that do not sleep.
    private static let quickTurns = 16
    /// How long a later turn sleeps, in microseconds.
    private static let pause: UInt32 = 500
    /// In nanoseconds: far longer than a system call takes on a busy machine.
    static let patience: Int64 = 5_000_000_000
    /// The patience of a call that is a move itself, and so cannot tell whether another one is in flight.
    static let patienceOfMoves: Int64 = 10_000_000

    init(patience: Int64 = patience) { self.patience = patience }

    /// Returns whether to look again.
    mutating func mayEnd(_ core: VolumeCore) -> Bool {
        let nothingMoved = wasQuiet && core.moves.load(ordering: .acquiring) == moves
        guard !nothingMoved, hasTime(core) else { return false }
        moves = core.moves.load(ordering: .acquiring)
        wasQuiet = core.movesEnded.load(ordering: .acquiring) == moves
        return true
    }

    private mutating func hasTime(_ core: VolumeCore) -> Bool {
        turns += 1
        if turns <= Self.quickTurns { return true }
        let now = System.uptime()
        if deadline == 0 {
            deadline = now + patience
            core.port.expectSlowWork()
        }
        guard now < deadline else { return false }
        usleep(Self.pause)
        return true
    }
}
