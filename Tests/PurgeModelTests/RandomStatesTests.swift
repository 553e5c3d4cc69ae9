import Testing

/// The random states must include each kind, because otherwise the property tests prove little.
@Suite struct RandomStatesTests {
    private static let kinds: [(String, @Sendable (ReferenceDevice) -> Bool)] = [
        ("overcommitted", { $0.free < 0 }),
        ("overcommitted, purging helps", { $0.free < 0 && $0.mostThatEverFits > 0 }),
        ("just full", { $0.free == 0 }),
        ("room only by purging", { $0.free <= 0 && $0.mostThatEverFits > 0 }),
        ("no room at all", { $0.mostThatEverFits == 0 }),
        ("below the cushion", { $0.free > 0 && $0.free < $0.thresholds[1] }),
        ("above the cushion", { $0.free > $0.thresholds[1] && $0.thresholds[1] > 0 }),
        ("thresholds off", { $0.thresholds == [0, 0, 0, 0] }),
        ("others purgeable, and files too", { $0.othersPurgeable > 0 && $0.reclaimableFiles > 0 }),
        ("only files to purge", { $0.othersPurgeable == 0 && $0.reclaimableFiles > 0 }),
        ("no file", { $0.files.isEmpty }),
        ("a purgeable file open", { $0.files.contains { $0.isPurgeable && $0.isOpen } }),
        ("a purgeable file of two names", { $0.files.contains { $0.isPurgeable && $0.names == 2 } }),
        ("an unmarked document", { $0.files.contains { $0.place == .persistent && $0.mark == nil } }),
        ("a marked document", { $0.files.contains { $0.place == .persistent && ($0.mark ?? 0) > 0 } }),
        ("an empty file", { $0.files.contains { $0.blocks == 0 } }),
        (
            "two that differ by path alone",
            { state in
                let turns = state.inTurn.map { $0.turn.dropLast() }
                return zip(turns, turns.dropFirst()).contains { $0 == $1 }
            }
        ),
    ]

    @Test func everyKindComesUp() {
        var seen = [Int](repeating: 0, count: Self.kinds.count)
        for seed in UInt64(0)..<4000 {
            var random = SeededGenerator(seed: seed)
            let state = ReferenceDevice.random(&random)
            for (at, kind) in Self.kinds.enumerated() where kind.1(state) { seen[at] += 1 }
        }
        for (count, kind) in zip(seen, Self.kinds) {
            #expect(count >= 40, "\(kind.0): \(count) of 4000")
        }
    }
}
