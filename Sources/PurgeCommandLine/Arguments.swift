import PurgeModel

/// A parsed command line.
package struct Arguments: Sendable {
    package private(set) var operands: [String] = []
    /// The positions of the operands among the arguments.
    package private(set) var positions: [Int] = []
    /// Whether `--` ended the options.
    package private(set) var hasTerminator = false
    private var values: [String: [String]] = [:]

    /// Whether the option was given, with or without a value.
    package func has(_ option: OptionSpec) -> Bool { values[option.name] != nil }
    /// Returns the value of an option that may be given once.
    package func text(_ option: OptionSpec) -> String? {
        precondition(!option.addsUp, "\(option.text) has several values")
        return values[option.name]?.first
    }
    package func texts(_ option: OptionSpec) -> [String] { values[option.name] ?? [] }
    package func size(_ option: OptionSpec) -> ByteCount? { text(option).flatMap { ByteCount(text: $0) } }

    /// Parses the `words` after the verb. `verbs` are all verbs, for a message.
    package init(_ words: [String], for verb: Verb, among verbs: @autoclosure () -> [Verb]) throws(CommandFailure) {
        var next = 0
        var endOfOptions = false
        while next < words.count {
            let word = words[next]
            if endOfOptions || word == "-" || !word.hasPrefix("-") {
                operands.append(word)
                positions.append(next)
                if verb.endsAtFirstOperand { endOfOptions = true }
            } else if word == "--" {
                (endOfOptions, hasTerminator) = (true, true)
            } else {
                next += try take(word, following: words[(next + 1)...].prefix(2), verb, verbs)
            }
            next += 1
        }
        try checkOperands(verb)
    }

    /// Takes one option. Returns how many of the following arguments it used.
    private mutating func take(
        _ word: String, following words: ArraySlice<String>, _ verb: Verb, _ verbs: () -> [Verb]
    ) throws(CommandFailure) -> Int {
        let (option, attached) = try Self.option(word, verb, verbs)
        let following = words.first
        switch option.value {
        case .none:
            guard attached == nil else { throw .usage("\(option.text) takes no value") }
            values[option.name] = [""]
            return 0
        case .optionalChoice(_, let words):
            if let attached { try check(attached, option) }
            if attached == nil, let following, words.contains(following) {
                throw .usage(
                    "\(option.text) takes its value after '=': \(option.text)=\(following) (for a file of that name, "
                        + "write ./\(following))")
            }
            try add(attached ?? "", to: option)
            return 0
        case .moment:
            // One word with a space in it is the same as two.
            let given = (attached.map { [$0] } ?? []) + words
            let parts = given.first?.contains(" ") ?? false ? [given[0]] : Array(given.prefix(2))
            let value = parts.joined(separator: " ")
            guard value.contains(" "), !parts.contains("--") else {
                throw .usage("\(option.synopsis): a word is missing")
            }
            try add(value, to: option)
            return parts.count - (attached == nil ? 0 : 1)
        default:
            guard let value = attached ?? following else { throw .usage("\(option.synopsis): the value is missing") }
            guard attached != nil || value != "--" else {
                let way = option.isName ? " (for the name --, write \(option.text)=--)" : ""
                throw .usage("\(option.synopsis): the value is missing: `--` ends the options\(way)")
            }
            try check(value, option)
            try add(value, to: option)
            return attached == nil ? 1 : 0
        }
    }

    private mutating func add(_ value: String, to option: OptionSpec) throws(CommandFailure) {
        guard option.addsUp || !has(option) else { throw .usage("\(option.text) is given twice; it takes one value") }
        values[option.name, default: []].append(value)
    }

    private func check(_ value: String, _ option: OptionSpec) throws(CommandFailure) {
        if let objection = option.objection(to: value) { throw .usage("\(option.text): \(objection)") }
    }

    /// Parses `--name`, `--name=VALUE`, `-n` or `-nVALUE`.
    private static func option(
        _ word: String, _ verb: Verb, _ verbs: () -> [Verb]
    ) throws(CommandFailure) -> (OptionSpec, String?) {
        let isLong = word.hasPrefix("--")
        let body = word.dropFirst(isLong ? 2 : 1)
        let name = isLong ? String(body.prefix { $0 != "=" }) : String(body.prefix(1))
        let rest = body.dropFirst(name.count)
        let attached = rest.isEmpty ? nil : String(isLong ? rest.dropFirst() : rest)
        guard let option = verb.options.first(where: { $0.name == name && $0.isShort != isLong }) else {
            throw .usage(verb.objection(toOption: word, among: verbs()))
        }
        return (option, attached)
    }

    private func checkOperands(_ verb: Verb) throws(CommandFailure) {
        // The verb itself reports an unknown action: that message says more than one about the number of operands.
        if let word = operands.first, !verb.words.isEmpty, !verb.words.contains(word) { return }
        if operands.count < verb.operands.lowerBound {
            let missing = verb.requiredOperands.prefix(verb.operands.lowerBound).dropFirst(operands.count)
            throw .usage(missing.joined(separator: " and ") + (missing.count == 1 ? " is missing" : " are missing"))
        }
        if operands.count > verb.operands.upperBound {
            throw .usage("unexpected operand '\(operands[verb.operands.upperBound])'")
        }
    }
}
