import PurgeSystem

@testable import PurgeCommandLine
@testable import PurgeCommands

/// An in-process run of the program, with its captured output.
struct Session {
    private(set) var status: Int32 = 0
    private(set) var output = ""
    private(set) var messages = ""

    init(_ words: String..., failingWith failure: Errno? = nil) { self.init(words, failingWith: failure) }

    init(_ words: [String], failingWith failure: Errno? = nil) {
        var output = ""
        var messages = ""
        let console = Console { (text) throws(Errno) in
            if let failure { throw failure }
            output += text
        } messages: {
            messages += $0
        }
        status = Program.run((["purgefs"] + words).map { Array($0.utf8CString) }, console: console)
        (self.output, self.messages) = (output, messages)
    }
}
