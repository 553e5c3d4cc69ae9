/// A kind of call that can meet a fault: the calls of an app that reach the file system and matter to it (docs/FAULTS.md).
public enum MomentKind: String, CaseIterable, Sendable {
    case open, create, read, write, sync, rename, unlink, mkdir, truncate, setxattr
}

/// A rule about which calls of the app meet a fault, and which fault: `write@Documents/*#3=ENOSPC` (docs/FAULTS.md).
public struct FaultRule: Hashable, Sendable {
    /// The matching calls that meet the fault, counted from 1 since the rule was set.
    public enum Choice: Hashable, Sendable {
        case all
        case only(Int64)
        case from(Int64)
        /// Each call with this probability, from 1 to 100.
        case percent(Int64)
    }

    public enum Fault: Hashable, Sendable {
        /// The call is not carried out, and fails with the error of this name.
        case error(String)
        /// The call is asked for half of its bytes.
        case short
        /// The call begins this many milliseconds later.
        case delay(Int64)
        /// From this call on, no bytes are free until `off` is written to `faults` or the mount ends.
        case full
        /// All files that a purge may take are purged before the call.
        case purge
        case lock
        case reboot
        /// The app is killed, and the call is not carried out.
        case kill
        /// The power fails just before the call. Only `purgefs run --fault` has it.
        case power(PowerLoss)
    }

    public let kind: MomentKind
    /// A pattern of fnmatch(3) for the path relative to the container; nil for every path.
    public let glob: String?
    public let choice: Choice
    public let fault: Fault
    /// The rule as the user wrote it.
    public let text: String
    /// The rule up to the `=` before the fault.
    public let condition: String

    /// The longest delay, an hour.
    public static let longestDelay: Int64 = 3_600_000

    /// Why a text is no rule.
    public enum Objection: Error, Hashable, Sendable {
        /// There is no `=`, or nothing before or after it.
        case form
        case kind(String)
        case emptyGlob
        /// The number after `#` or `%` is missing or out of range.
        case number(String)
        /// The word after `=` is not one of `words`, the name of an error, or a duration.
        case fault(String)
        case delayTooLong
        /// Only reads and writes can be cut short.
        case notShortened
    }

    /// The faults that have a name of their own.
    public static let words = ["short", "full", "purge", "lock", "reboot", "kill", "power"]

    /// Parses a rule. Accepts any name of the form of an error's name: the caller knows which errors exist.
    public init(text: String) throws(Objection) {
        guard let (first, what) = Self.parts(of: text) else { throw .form }
        var when = first
        condition = String(first)
        choice = try Self.takeChoice(from: &when)
        let at = when.unicodeScalars.firstIndex(of: "@")
        let word = String(when[..<(at ?? when.endIndex)])
        guard let kind = MomentKind(rawValue: word) else { throw .kind(word) }
        glob = at.map { String(when[when.unicodeScalars.index(after: $0)...]) }
        guard glob != "" else { throw .emptyGlob }
        fault = try Self.fault(String(what))
        if fault == .short, kind != .read, kind != .write { throw .notShortened }
        (self.kind, self.text) = (kind, text)
    }

    /// The parts before and after the `=`. A pattern may contain one, and so may a fault of power: `rename#1=power=torn`.
    private static func parts(of text: String) -> (Substring, Substring)? {
        guard var equals = text.unicodeScalars.lastIndex(of: "=") else { return nil }
        let head = text[..<equals]
        if head.hasSuffix("=power") { equals = text.unicodeScalars.index(head.endIndex, offsetBy: -6) }
        let what = text[text.unicodeScalars.index(after: equals)...]
        return equals == text.startIndex || what.isEmpty ? nil : (text[..<equals], what)
    }

    /// Parses `power`, `power=torn` or `power=torn:7`.
    private static func powerLoss(_ word: String) -> PowerLoss? {
        guard word != "power" else { return PowerLoss(.none) }
        let parts = word.dropFirst("power=".count).split(separator: ":", omittingEmptySubsequences: false)
        guard word.hasPrefix("power="), parts.count <= 2, let rest = PowerLoss.Rest(rawValue: String(parts[0])) else {
            return nil
        }
        guard parts.count == 2 else { return PowerLoss(rest) }
        guard parts[1].allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        guard rest != .none, let seed = Int64(parts[1]) else { return nil }
        return PowerLoss(rest, seed: UInt64(seed))
    }

    /// Removes the choice from the end of the first part of a rule.
    private static func takeChoice(from when: inout Substring) throws(Objection) -> Choice {
        guard let sign = when.unicodeScalars.lastIndex(where: { $0 == "#" || $0 == "%" }) else { return .all }
        let rest = when[when.unicodeScalars.index(after: sign)...]
        let mark = when.unicodeScalars[sign]
        let isFrom = mark == "#" && rest.last == "+"
        let digits = isFrom ? rest.dropLast() : rest
        // A sign within a pattern is a part of the pattern.
        let isOfPattern = digits.isEmpty && when[..<sign].unicodeScalars.contains("@")
        guard !isOfPattern, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return .all }
        guard let number = Int64(digits), number > 0, mark == "#" || number <= 100 else {
            throw .number(String(when[sign...]))
        }
        when = when[..<sign]
        return mark == "%" ? .percent(number) : isFrom ? .from(number) : .only(number)
    }

    private static func fault(_ word: String) throws(Objection) -> Fault {
        switch word {
        case "short": return .short
        case "full": return .full
        case "purge": return .purge
        case "lock": return .lock
        case "reboot": return .reboot
        case "kill": return .kill
        default: break
        }
        if word.first == "E", word.dropFirst().allSatisfy({ $0.isASCII && ($0.isUppercase || $0.isNumber) }) {
            return .error(word)
        }
        if let loss = powerLoss(word) { return .power(loss) }
        guard let delay = milliseconds(word) else { throw .fault(word) }
        guard delay <= longestDelay else { throw .delayTooLong }
        return .delay(delay)
    }

    /// Parses a duration (docs/RULES.md, Words), or a number of milliseconds such as `20ms`.
    private static func milliseconds(_ text: String) -> Int64? {
        if text.hasSuffix("ms") {
            let digits = text.dropLast(2)
            return digits.allSatisfy({ $0.isASCII && $0.isNumber }) ? Int64(digits) : nil
        }
        return TimeSpan(text: text).map { $0.seconds * 1000 }
    }
}
