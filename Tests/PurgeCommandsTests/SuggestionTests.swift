import Testing

@testable import PurgeCommandLine
@testable import PurgeCommands

struct SuggestionTests {
    private static let verbs = Verbs.all.map(\.name)

    @Test(arguments: [
        ("staus", "status"), ("sttaus", "status"), ("stauts", "status"), ("STATUS", "status"), ("--status", "status"),
        ("mout", "mount"), ("muont", "mount"), ("mouunt", "mount"), ("event", "events"), ("chek", "check"),
        ("rnu", "run"), ("get", "set"), ("stat", "status"), ("unmont", "unmount"), ("marc", "mark"),
    ])
    func theNearestVerb(word: String, verb: String) {
        #expect(Suggestion.nearest(to: word, among: Self.verbs) == verb)
    }

    @Test(arguments: ["", "-", "x", "ls", "frobnicate", "help me", "restore", "snapshot"]) func nothingIsNear(
        word: String
    ) {
        #expect(Suggestion.nearest(to: word, among: Self.verbs) == nil)
    }

    @Test(arguments: [
        ("--unpurgeable", "--not-purgeable"), ("--nonpurgeable", "--not-purgeable"), ("--no-dry-run", nil),
        ("--not-purgable", "--not-purgeable"), ("--purgable", "--purgeable"),
    ])
    func theOppositeIsNotNear(word: String, option: String?) {
        #expect(Suggestion.nearest(to: word, among: ["--purgeable", "--not-purgeable", "--dry-run"]) == option)
    }

    @Test(arguments: ["--include-from-backup", "--include-from-backups", "--exclude-in-backup"])
    func includeIsNoSuggestionForExclude(word: String) {
        let near = Suggestion.nearest(to: word, among: ["--exclude-from-backup", "--include-in-backup"])
        #expect(near == nil || near?.prefix(5) == word.prefix(5))
    }

    @Test func aBeginningIsEnoughIfOnlyOneBeginsSo() {
        #expect(
            Suggestion.nearest(to: "--exclude", among: ["--exclude-from-backup", "--include-in-backup"])
                == "--exclude-from-backup")
        #expect(Suggestion.nearest(to: "completeU", among: ["completeUnlessOpen", "completeUntilFirst"]) == nil)
    }

    /// A word that other tools use leads to the word of purgefs.
    @Test(arguments: [
        ("restart", "device", "reboot"), ("kill", "app", "terminate"), ("uninstall", "app", "delete"),
        ("remove", "app", nil), ("rm", "app", nil), ("rm", "policy", "remove"), ("set", "clock", "advance"),
        ("stop", "policy", nil),
    ])
    func aSynonym(word: String, verb: String, meant: String?) throws {
        #expect(Suggestion.nearest(to: word, among: try Verbs.named(verb).words) == meant)
    }

    @Test(arguments: [
        ("boot", "mount"), ("shutdown", "unmount"), ("ps", "list"),
        ("df", "status"), ("reboot", "device reboot"), ("lock", "device lock"), ("ls", "list"), ("logs", "events"),
        ("fsck", "check"),
    ])
    func aVerbOfAnotherTool(word: String, meant: String) {
        let failure = #expect(throws: CommandFailure.self) { try Verbs.named(word) }
        #expect(failure?.message.contains("unknown verb '\(word)'; did you mean 'purgefs \(meant)") == true)
    }

    /// A suggestion that would do something else, if it is followed literally, is none.
    @Test(arguments: ["erase", "delete", "reset", "remove", "clone", "exec", "create", "update"])
    func aWordForSomethingElse(word: String) {
        let failure = #expect(throws: CommandFailure.self) { try Verbs.named(word) }
        #expect(failure?.message.contains("unknown verb '\(word)'; see `purgefs help ") == true)
    }

    @Test(arguments: [
        ("unpurge", "purge"), ("undelete", "delete"), ("unlaunch", "launch"), ("noallow_other", "allow_other"),
        ("unmark", "mark"), ("unset", "set"), ("nolock", "lock"), ("delock", "lock"), ("renew", "reset"),
        ("revert", "reset"), ("delta", "delete"),
    ]) func theOppositeIsNone(word: String, candidate: String) {
        #expect(Suggestion.nearest(to: word, among: [candidate]) == nil)
    }

    @Test(arguments: [
        ("nolock", "unlock"), ("delock", "unlock"), ("resett", "reset"), ("delet", "delete"), ("rset", "reset"),
    ])
    func theWordThatIsMeant(word: String, meant: String) {
        #expect(Suggestion.nearest(to: word, among: ["lock", "unlock", "reset", "delete"]) == meant)
    }

    @Test(arguments: [
        ("-q", "run", "--quiet"), ("-v", "backup", "--verbose"), ("--size", "mount", "--total"),
        ("--size", "purge", "--bytes"), ("--readonly", "mount", "-o ro"), ("--read-only", "run", "-o ro"),
        ("-n", "clean", "--dry-run"), ("-q", "status", nil),
    ])
    func anOptionThatOtherToolsHave(word: String, verb: String, meant: String?) throws {
        let objection = try Verbs.named(verb).objection(toOption: word, among: Verbs.all)
        #expect(objection == "unknown option '\(word)'" + (meant.map { "; did you mean '\($0)'?" } ?? ""))
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "axc", 1),
        ("kitten", "sitting", 3), ("umount", "unmount", 1),
    ])
    func distances(a: String, b: String, count: Int) {
        #expect(Suggestion.distance(Array(a), Array(b)) == count)
    }
}
