import Testing

struct WhyVerbTests {
    @Test(arguments: [
        ["why"], ["why", "a", "b", "c"], ["why", "--jsn", "a"],
    ]) func usage(words: [String]) { #expect(Session(words).status == 64) }

    @Test func whatIsInNoContainer() {
        let session = Session("why", "/etc/passwd")
        #expect(session.status == 1 && session.messages.contains("it is not in a container"), "\(session)")
    }
}
