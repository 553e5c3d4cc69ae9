/// Suggestions for a mistyped word.
package enum Suggestion {
    /// Returns `; did you mean 'status'?`, or an empty text if no candidate is near.
    package static func hint(for word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// Returns the candidate for a mistyped word: a synonym; or the candidate with the fewest mistakes, if they are few enough;
    /// or the only candidate that begins with the word. Case and leading dashes do not count. Among candidates with equally
    /// many mistakes, one with the same first letter wins, and then the first.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        if let others = synonyms[word] {
            if let other = others.first(where: candidates.contains) { return other }
            if unlike.contains(word) { return nil }
        }
        let (isNegated, wanted) = letters(word)
        let opposite = opposite(of: word)
        guard !wanted.isEmpty, wanted.count <= 64 else { return nil }
        let candidates = candidates.filter { candidate in
            letters(candidate).isNegated == isNegated && opposite.map { !candidate.contains($0) } ?? true
                && !isOpposite(wanted, of: Array(candidate))
        }
        let distances = candidates.map { candidate in
            let other = letters(candidate).word
            return (candidate, 2 * distance(wanted, other) + (other.first == wanted.first ? 0 : 1))
        }
        let near = distances.filter { $0.1 <= 2 * (removing.contains($0.0) ? 1 : mistakes(in: wanted)) + 1 }
        if let best = near.min(by: { $0.1 < $1.1 }) { return best.0 }
        let longer = candidates.filter {
            wanted.count > 2 && !removing.contains($0) && letters($0).word.starts(with: wanted)
        }
        return longer.count == 1 ? longer.first : nil
    }

    /// Words of other tools, each with our words for it; the first that is a candidate counts.
    private static let synonyms = [
        "-q": ["--quiet"], "-v": ["--verbose", "--version"], "-V": ["--version"], "-n": ["--dry-run"],
        "--size": ["--total", "--bytes", "--limit"], "--capacity": ["--total"],
        "--readonly": ["-o ro"], "--read-only": ["-o ro"], "--ro": ["-o ro"],
        "size": ["total", "storage.total"], "capacity": ["total", "storage.total"], "share": ["storage.others.share"],
        "readonly": ["ro"], "read-only": ["ro"],
        "dismount": ["unmount"], "demount": ["unmount"], "unset": ["remove"],
        "purge": ["storage.reclaim"], "evict": ["purge"], "prune": ["purge"], "clock": ["device.clock"],
        "restart": ["reboot"], "kill": ["terminate"], "stop": ["terminate"], "quit": ["terminate"], "start": ["launch"],
        "uninstall": ["delete"], "rm": ["remove"], "set": ["advance"],
    ]

    /// Words that remove files. Apart from synonyms, they are suggested only for a word with one mistake.
    private static let removing: Set = ["delete", "reset", "purge", "clean"]

    /// Synonyms that are near to words with another meaning.
    private static let unlike: Set = ["clock"]

    /// Returns the maximum number of mistakes with which a word of this length is still recognized.
    private static func mistakes(in word: [Character]) -> Int {
        switch word.count {
        case ...2: 0
        case ...4: 1
        case ...7: 2
        default: 3
        }
    }

    /// Whether a word is a candidate with a negating prefix, such as `undelete`.
    private static func isOpposite(_ word: [Character], of candidate: [Character]) -> Bool {
        ["un", "no", "non", "de", "dis"].contains { prefix in
            word.starts(with: prefix) && !candidate.starts(with: prefix)
                && distance(Array(word.dropFirst(prefix.count)), candidate) <= 1
        }
    }

    private static let negations = ["not-", "not", "non-", "non", "no-", "un"]

    /// Returns the letters of a word without dashes and negation, and whether it is a negated option. An option with the
    /// opposite meaning is never near, even if few letters differ.
    private static func letters(_ word: String) -> (isNegated: Bool, word: [Character]) {
        let plain = word.drop { $0 == "-" }.lowercased()
        let negation = word.first == "-" ? negations.first(where: plain.hasPrefix) : nil
        return (negation != nil, Array(plain.dropFirst(negation?.count ?? 0)))
    }

    /// Returns the part of an option that would turn it into its opposite.
    private static func opposite(of word: String) -> String? {
        if word.contains("include") { return "exclude" }
        return word.contains("exclude") ? "include" : nil
    }

    /// Returns how many letters must be inserted, removed, replaced, or exchanged with their neighbours to turn one
    /// word into the other.
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
