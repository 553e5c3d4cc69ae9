import Glibc
import PurgeCommandLine
import PurgeSystem

/// The program: finds the verb, runs it, and reports failures.
package enum Program {
    /// Runs this process's command line for main.swift, and returns its exit status.
    package static func runCommandLine() -> Int32 {
        openStandardDescriptors()
        return run(System.arguments(), console: .standard(), serviceManager: .take())
    }

    /// Opens /dev/null for closed standard descriptors. Otherwise a file opened later could become standard output by chance,
    /// and messages would be written into it. Writing fails, as it does on a closed descriptor.
    private static func openStandardDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            do throws(Errno) {
                _ = try System.status(descriptor)
            } catch .badFileDescriptor {
                do throws(Errno) {
                    _ = try System.open(at: AT_FDCWD, "/dev/null", O_RDONLY)  // takes the lowest free number
                } catch {}  // without /dev/null it stays closed
            } catch {}  // whatever the descriptor is, it is open
        }
    }

    /// Runs a command line. `words` begins with the program's own name.
    static func run(_ words: [RawText], console: Console, serviceManager: ServiceManager? = nil) -> Int32 {
        let texts = words.map(Places.text)
        var verb: Verb?
        do throws(CommandFailure) {
            let status = try run(words, texts, &verb, console, serviceManager)
            try console.flush()
            return status
        } catch {
            return report(error, verb, console)
        }
    }

    private static func run(
        _ words: [RawText], _ texts: [String], _ found: inout Verb?, _ console: Console,
        _ serviceManager: ServiceManager?
    ) throws(CommandFailure) -> Int32 {
        guard texts.count > 1 else { throw .usage("no verb given") }
        let rest = Array(texts.dropFirst(2))
        switch texts[1] {
        case "--help", "-h": try console.print(HelpText.overview(Verbs.all))
        case "--version": try console.print("purgefs \(Version.number)")
        case "help": try help(rest, console)
        default:
            if let objection = Verbs.objection(toMountHelper: texts) { throw .usage(objection) }
            let verb = try Verbs.named(texts[1])
            found = verb
            guard !asksForHelp(rest, verb) else {
                try console.print(HelpText.page(verb))
                return ExitStatus.done
            }
            let arguments = try Arguments(rest, for: verb)
            try refuseOtherText(words, of: verb, arguments)
            let watch = StoppedDaemonWatch(verb, arguments)
            defer { watch.end() }
            return try verb.perform(
                Invocation(
                    arguments: arguments, console: console, programName: texts[0],
                    rawOperands: arguments.positions.map { words[$0 + 2] }, verb: verb,
                    serviceManager: serviceManager))
        }
        return ExitStatus.done
    }

    /// Refuses arguments that are not UTF-8, because as text they would name something else. A command and its arguments, and
    /// operands of verbs that work on bytes, are exempt.
    private static func refuseOtherText(
        _ words: [RawText], of verb: Verb, _ arguments: Arguments
    ) throws(CommandFailure) {
        let end = verb.endsAtFirstOperand ? arguments.positions.first.map { $0 + 2 } : nil
        let free = verb.takesAnyBytes ? Set(arguments.positions.map { $0 + 2 }) : []
        for (index, word) in words[..<(end ?? words.count)].enumerated() where !free.contains(index) && !isUTF8(word) {
            let text = Places.text(word)
            // A status of 1 would be taken for that of a command.
            if verb.endsAtFirstOperand { throw .usage("'\(text)' is not UTF-8") }
            throw CommandFailure(
                verb.name, path: text, "it is not UTF-8",
                advice: "purgefs accepts only arguments in UTF-8. If this is a path, rename the file.")
        }
    }

    private static func isUTF8(_ word: RawText) -> Bool {
        String(validating: word.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) != nil
    }

    private static func help(_ rest: [String], _ console: Console) throws(CommandFailure) {
        guard rest.count <= 1 else { throw .usage("unexpected operand '\(rest[1])'") }
        guard let name = rest.first, name != "help" else { return try console.print(HelpText.overview(Verbs.all)) }
        guard !name.hasPrefix("-") else { throw .usage("help takes the name of a verb, not '\(name)'") }
        try console.print(HelpText.page(try Verbs.named(name)))
    }

    /// Whether `--help` or `-h` comes before any `--` and, for a verb that takes a command, before any word without a dash.
    private static func asksForHelp(_ words: [String], _ verb: Verb) -> Bool {
        var values = 0
        for (index, word) in words.enumerated() {
            if word == "--help" || word == "-h" { return true }
            if values > 0 {
                values -= 1
                continue
            }
            if word == "--" || (verb.endsAtFirstOperand && !word.hasPrefix("-")) { return false }
            values = verb.values(after: word, words.dropFirst(index + 1).first)
        }
        return false
    }

    private static func report(_ failure: CommandFailure, _ verb: Verb?, _ console: Console) -> Int32 {
        // Flushes the output that the verb printed before it failed. If the flush fails too, the verb's failure is still
        // reported, after it.
        do throws(CommandFailure) { try console.flush() } catch { console.warn(error.message) }
        if failure.status == ExitStatus.usage {
            console.warn((verb.map { "\($0.name): " } ?? "") + failure.message)
            console.note(
                verb.map { "usage: \($0.usage)\n  More: purgefs help \($0.name)" }
                    ?? "usage: purgefs VERB ...\n  For a list of verbs: purgefs --help")
        } else if !failure.message.isEmpty {
            console.warn(failure.message)
        }
        return failure.status
    }
}
