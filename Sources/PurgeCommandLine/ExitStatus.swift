/// The table of exit statuses, from which help is generated. Tests compare `plain` and the statuses of `run` with docs/CLI.md.
package enum ExitStatus {
    package static let done: Int32 = 0
    package static let failed: Int32 = 1
    package static let usage: Int32 = 64
    /// `run`: COMMAND ended with 0, and events named by `--fail-on` occurred.
    package static let demandFailed: Int32 = 123
    /// `run`: purgefs itself failed.
    package static let runFailed: Int32 = 125
    package static let notExecutable: Int32 = 126
    package static let notFound: Int32 = 127
    /// The base to which the number of a signal is added.
    package static let signal: Int32 = 128

    private static func meaning(of status: Int32) -> String {
        switch status {
        case done: "done"
        case failed: "failed; the message says what, on which path, and what to do next"
        case usage: "wrong usage"
        case demandFailed: "COMMAND ended with 0, but an event matched --fail-on"
        case runFailed: "purgefs failed"
        case notExecutable: "COMMAND cannot be executed"
        case notFound: "COMMAND was not found"
        default: ""
        }
    }

    /// Returns the line of a help text, with a verb's own meaning if there is one.
    package static func line(_ status: Int32, _ meaning: String? = nil) -> HelpSection.Line {
        .init("\(status)", meaning ?? Self.meaning(of: status))
    }

    /// Returns the line about the status after a signal.
    package static func signalLine(_ meaning: String) -> HelpSection.Line { .init("\(signal)+N", meaning) }

    /// The statuses of a verb that has none of its own.
    package static let plain = [line(done), line(failed), line(usage)]
}
