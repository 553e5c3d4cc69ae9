/// What is planned and not in this version, so that a message can say so.
enum Planned {
    static let verbs: [String] = []
    /// By the verb that will take them.
    static let options: [String: [String]] = ["run": ["state"], "mount": ["state"]]
}
