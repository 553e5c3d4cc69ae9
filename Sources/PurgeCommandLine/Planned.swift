/// Verbs and options that are planned but not in this version, so that a message can say so.
package enum Planned {
    package static let verbs: [String] = []
    /// Planned options by verb.
    package static let options: [String: [String]] = [:]
}
