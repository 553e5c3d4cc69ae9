import Testing

/// All tests on real mounts. Within a process they run one after the other, so that no test spends its deadline on
/// another. Tests/Runner runs several processes at once.
@Suite(.serialized) enum Mounts {}
