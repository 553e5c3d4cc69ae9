import Glibc
import PurgeSystem

@testable import PurgeVolume

/// One operation, on the state that `prepare` has set up.
struct FaultyOperation: Sendable {
    let name: String
    let prepare: @Sendable (FaultStage) throws -> () throws -> Void

    init(_ name: String, _ prepare: @escaping @Sendable (FaultStage) throws -> () throws -> Void) {
        self.name = name
        self.prepare = prepare
    }

    static let all = names + renames + writes + lengths + allocations + changes + attributes + commands
}
