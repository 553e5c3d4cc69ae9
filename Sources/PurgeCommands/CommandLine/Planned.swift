/// What documentation speaks of and this version does not have, so that a message can say so.
enum Planned {
    static let verbs = ["device", "clock", "app", "policy", "clean", "backup", "why", "diagnose", "report"]
    /// By the verb that will take them.
    static let options: [String: [String]] = ["run": ["state", "report"], "mount": ["state"]]
}
