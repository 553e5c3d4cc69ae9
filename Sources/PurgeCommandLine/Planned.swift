/// What is planned and not in this version, so that a message can say so.
package enum Planned {
    package static let verbs: [String] = []
    /// By the verb that will take them.
    package static let options: [String: [String]] = ["run": ["state"], "mount": ["state"]]
}
