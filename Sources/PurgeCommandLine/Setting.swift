/// The NAME of a NAME=VALUE, and the keywords that VALUE may be, if any.
package struct Setting: Hashable, Sendable {
    package let name: String
    package var words: [String] = []

    package init(name: String, words: [String] = []) { (self.name, self.words) = (name, words) }

    /// The beginnings of NAME=VALUE that a shell can complete: `storage.total=` for a setting without keywords, or
    /// `device.state=lock` and `device.state=unlock` for one with keywords.
    package var beginnings: [String] { words.isEmpty ? [name + "="] : words.map { "\(name)=\($0)" } }
}
