import Testing

@testable import PurgeSystem

/// Which paths are inside a directory.
struct PathBelowTests {
    @Test(arguments: [
        ("/a/b", "/a", true), ("/a", "/a", false), ("/ab", "/a", false), ("/a", "/", true), ("/", "/", false),
        ("/a/\u{301}b", "/a", true), ("a", "/", false),
    ])
    func isBelow(path: String, directory: String, expected: Bool) {
        #expect(path.isPath(below: directory) == expected)
    }
}
