import Testing

/// All tests on real mounts, one after the other: each has the machine for itself, and its deadline
/// means the same everywhere.
@Suite(.serialized) enum Mounts {}
