/// The NAME of a NAME=VALUE, and the keywords that VALUE may be, if any.
package struct Setting: Hashable, Sendable {
    package let name: String
    package var words: [String] = []

    package init(name: String, words: [String] = []) { (self.name, self.words) = (name, words) }

    /// The known beginnings of the text: `storage.total=`, or `device.state=lock`, `device.state=unlock`.
    package var beginnings: [String] { words.isEmpty ? [name + "="] : words.map { "\(name)=\($0)" } }
}
