import Foundation
import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeCommandLine
@testable import PurgeCleaning

struct CleaningListTests {
    private static let header = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        """

    private func tasks(_ content: String) throws -> [CleaningTask] {
        try CleaningList(Array("\(Self.header)<plist version=\"1.0\">\(content)</plist>".utf8)).tasks
    }

    /// Returns the fault of a list, or nil if it is valid.
    private func fault(_ content: String) -> String? {
        do {
            _ = try tasks(content)
            return nil
        } catch { return (error as? CleaningList.Fault)?.what ?? "\(error)" }
    }

    private static let expected: [CleaningTask] = [
        .remove(path: "Library/Caches/images", entries: nil),
        .remove(path: "Documents/feed", entries: ["*.tmp", "old"]),
        .call(type: "ImageCache", selectors: ["clearMemory", "clearDisk"]),
    ]

    private static let three = """
        <dict><key>Path</key><string>Library/Caches/images</string></dict>
        <dict>
            <key>Path</key><string>Documents/feed</string>
            <key>Entries</key><array><string>*.tmp</string><string>old</string></array>
        </dict>
        <dict>
            <key>Selectors</key><array><string>clearMemory</string><string>clearDisk</string></array>
            <key>Class</key><string>ImageCache</string>
        </dict>
        """

    @Test func xml() throws { #expect(try tasks("<array>\(Self.three)</array>") == Self.expected) }

    /// A binary list has the same tasks as the text. Python's plistlib wrote it.
    @Test func binary() throws {
        let text =
            "YnBsaXN0MDCjAQQK0QIDVFBhdGhfEBVMaWJyYXJ5L0NhY2hlcy9pbWFnZXPSBQIGCVdFbnRyaWVzogcIVSoudG1wU29sZF5Eb2N1bWVudHMv"
            + "ZmVlZNILDA0OVUNsYXNzWVNlbGVjdG9yc1pJbWFnZUNhY2hlog8QW2NsZWFyTWVtb3J5WWNsZWFyRGlzawgMDxQsMTk8QkZVWmBqdXiE"
            + "AAAAAAAAAQEAAAAAAAAAEQAAAAAAAAAAAAAAAAAAAI4="
        let bytes = try #require(Data(base64Encoded: text))
        #expect(try CleaningList(Array(bytes)).tasks == Self.expected)
    }

    @Test func otherShapes() throws {
        let one = "<dict><key>Path</key><string>tmp</string></dict>"
        let clear =
            "<dict><key>Class</key><string>C</string><key>Selectors</key><array><string>s</string></array></dict>"
        let (path, call): (CleaningTask, CleaningTask) = (
            .remove(path: "tmp", entries: nil), .call(type: "C", selectors: ["s"])
        )
        #expect(try tasks(one) == [path])
        #expect(try tasks("<dict><key>b</key>\(one)<key>a</key>\(clear)</dict>") == [call, path])
        #expect(try tasks("<dict><key>Tasks</key><array>\(one)\(clear)</array></dict>") == [path, call])
    }

    @Test func textIsTakenAsItIs() throws {
        let task = "<array><dict><key>Path</key><string> a &amp; b/\u{E4}&#x1F600; </string></dict></array>"
        #expect(try tasks(task) == [.remove(path: " a & b/\u{E4}\u{1F600} ", entries: nil)])
    }

    private static let faults: [(content: String, what: String)] = [
        ("<array/>", "there are no tasks in it"), ("<dict/>", "there are no tasks in it"),
        ("<string>tmp</string>", "it is a string instead of an array of tasks"),
        ("<true/>", "it is a boolean instead of an array of tasks"),
        ("<array><string>tmp</string></array>", "task 1 is a string instead of a dictionary"),
        ("<dict><key>a</key><integer>1</integer></dict>", "'a' is a number instead of a dictionary"),
        ("<array><dict/></array>", "task 1: it has neither a Path nor a Class"),
        (
            "<array><dict><key>Path</key><string>a</string><key>Entires</key><array><string>b</string></array></dict></array>",
            "task 1: unknown key 'Entires'; did you mean 'Entries'?"
        ),
        ("<array><dict><key>Path</key><integer>1</integer></dict></array>", "task 1: Path is a number"),
        ("<array><dict><key>Path</key><data>AAAA</data></dict></array>", "task 1: Path is data"),
        (
            "<array><dict><key>Path</key><date>2020-01-01T00:00:00Z</date></dict></array>", "task 1: Path is a date"
        ),
        (
            "<array><dict><key>Path</key><string>a</string><key>Entries</key><string>b</string></dict></array>",
            "task 1: Entries is a string instead of an array of strings"
        ),
        (
            "<array><dict><key>Path</key><string>a</string><key>Entries</key><array/></dict></array>",
            "task 1: Entries is empty"
        ),
        (
            "<array><dict><key>Path</key><string>a</string><key>Entries</key><array><true/></array></dict></array>",
            "task 1: Entries: number 1 is a boolean instead of a string"
        ),
        (
            "<array><dict><key>Entries</key><array><string>b</string></array></dict></array>",
            "task 1: it has neither a Path nor a Class"
        ),
        ("<array><dict><key>Class</key><string>C</string></dict></array>", "task 1: it has a Class, but no Selectors"),
        (
            "<array><dict><key>Path</key><string>a</string><key>Class</key><string>C</string></dict></array>",
            "task 1: it has a Path and a Class"
        ),
        (
            "<array><dict><key>Path</key><string>a</string><key>Selectors</key><array><string>s</string></array></dict></array>",
            "task 1: it has Selectors, but no Class"
        ),
        (
            "<array><dict><key>Class</key><string/><key>Selectors</key><array><string>s</string></array></dict></array>",
            "task 1: the name of a class or a selector is empty"
        ),
        // The environment of a command ends a value at a zero byte, so the command would see another method.
        (
            "<dict><key>Class</key><string>C</string><key>Selectors</key><array><string>s&#0;x</string></array></dict>",
            "task 1: the name of a class or a selector is empty, or has a zero byte in it"
        ),
    ]

    @Test(arguments: faults) func isNotUnderstood(row: (content: String, what: String)) {
        #expect(fault(row.content)?.hasPrefix(row.what) ?? false, "\(fault(row.content) ?? "nothing")")
    }

    @Test(arguments: [
        "", "x", "(tmp)", "{ Path = tmp; }", "<746d70>", "{\"Path\":\"tmp\"}", "<plist><array>", "bplist00",
        "bplist = { Path = tmp; };", "bplist00 = { Path = tmp; };", "<plist></plist>", "\0\0\0\0",
    ])
    func isNoPropertyList(text: String) {
        #expect(throws: CleaningList.Fault.self) { try CleaningList(Array(text.utf8)) }
    }

    /// Lists that would grow without end are refused: an array that contains itself, and ten arrays that each contain the next
    /// one fourteen times.
    @Test(arguments: [
        "YnBsaXN0MDChAAgAAAAAAAABAQAAAAAAAAABAAAAAAAAAAAAAAAAAAAACg==",
        "YnBsaXN0MDCuAQEBAQEBAQEBAQEBAQGuAgICAgICAgICAgICAgKuAwMDAwMDAwMDAwMDAwOuBAQEBAQEBAQEBAQEBASuBQUFBQUFBQUFBQUFBQWu"
            + "BgYGBgYGBgYGBgYGBgauBwcHBwcHBwcHBwcHBweuCAgICAgICAgICAgICAiuCQkJCQkJCQkJCQkJCQlRYQgXJjVEU2JxgI8AAAAAAAAB"
            + "AQAAAAAAAAAKAAAAAAAAAAAAAAAAAAAAkQ==",
    ]) func knots(text: String) throws {
        let bytes = Array(try #require(Data(base64Encoded: text)))
        #expect(throws: CleaningList.Fault.self) { try CleaningList(bytes) }
    }

    /// Randomly damaged lists never crash the process.
    @Test func damaged() throws {
        let xml = Array("\(Self.header)<plist version=\"1.0\"><array>\(Self.three)</array></plist>".utf8)
        let binary = Array(
            try PropertyListSerialization.data(
                fromPropertyList: [["Path": "a", "Entries": ["*", "b"]], ["Class": "C", "Selectors": ["s"]]],
                format: .binary, options: 0))
        var random = SystemRandomNumberGenerator()
        for original in [xml, binary] {
            for _ in 0..<2000 {
                var bytes = original
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                do { _ = try CleaningList(bytes) } catch {}
                do { _ = try CleaningList(Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))) } catch
                {}
            }
        }
    }

    /// Nesting that exceeds any stack is refused.
    @Test(arguments: [
        ("<array>", "</array>"), ("<dict><key>Path</key>", "</dict>"), ("<array x='/'>", "</array>"),
        ("<array><!-- </array> -->", "</array>"), ("<plist>", "</plist>"), ("<array>&lt;/array>", "</array>"),
        // A text that starts with `<!-->` is a comment until the next `-->`.
        ("<array><!--></array>-->", "</array>"), ("<array><!---></array>-->", "</array>"),
        ("<array><!--><![CDATA[-->", "</array>"),
    ]) func deep(begin: String, end: String) {
        let depth = 40_000
        #expect(fault(String(repeating: begin, count: depth) + String(repeating: end, count: depth)) != nil)
    }

    /// Deep nesting is refused in other encodings as well, and so is a binary list of 150,000 nested arrays.
    @Test func deepInOtherForms() throws {
        let text = "<plist>" + String(repeating: "<array>", count: 40_000) + "</plist>"
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32] {
            let bytes = Array(try #require(text.data(using: encoding)))
            #expect(throws: CleaningList.Fault.self, "\(encoding)") { try CleaningList(bytes) }
        }
        let count = 150_000
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        var bytes = Array("bplist00".utf8)
        for index in 1...count { bytes += [0xA1] + number(index, 3) }
        bytes += [0x51, 0x61]
        let table = bytes.count
        for index in 0...count { bytes += number(8 + index * 4, 3) }
        bytes += [0, 0, 0, 0, 0, 0, 3, 3] + number(count + 1, 8) + number(0, 8) + number(table, 8)
        #expect(throws: CleaningList.Fault.self) { try CleaningList(bytes) }
    }
}

struct CleaningFailureTests {
    @Test(arguments: [Errno.accessDenied, .notPermitted]) func whoMay(error: Errno) {
        let failure = CleaningOutcome.Failure(error, at: [Array("a".utf8CString), Array("b".utf8CString)])
        #expect(failure.reason == "a/b: \(error)")
        #expect(failure.advice.hasPrefix(geteuid() == 0 ? "Not even root" : "Make its folder accessible"))
    }
}

struct CleaningHooksTests {
    private func hooks(_ texts: String...) throws(CommandFailure) -> CleaningHooks {
        try CleaningHooks(texts, limit: TimeSpan(seconds: 30))
    }
    private func call(_ type: String, _ selector: String) -> CleaningCall {
        CleaningCall(type: type, selector: selector)
    }

    @Test func theNearerNameCounts() throws {
        let hooks = try hooks("Cache=all", "Cache.disk=x=y=z", "Other.s=o")
        #expect(hooks.command(for: call("Cache", "disk")) == "x=y=z")
        #expect(hooks.command(for: call("Cache", "memory")) == "all")
        #expect(hooks.command(for: call("Other", "t")) == nil && hooks.command(for: call("cache", "disk")) == nil)
    }

    @Test(arguments: ["", "a", "=b", "a=", "="]) func malformed(text: String) {
        #expect { try hooks(text) } throws: { ($0 as? CommandFailure)?.status == 64 }
    }

    @Test func twice() { #expect(throws: CommandFailure.self) { try hooks("a=b", "a=c") } }

    @Test func whatNoTaskCalls() throws {
        let tasks: [CleaningTask] = [.remove(path: "a", entries: nil), .call(type: "Cache", selectors: ["disk"])]
        let hooks = try hooks("Cache=1", "Cache.disk=2", "Cache.dsk=3", "a=4")
        let unused = hooks.unused(by: tasks)
        #expect(unused.count == 2)
        #expect(unused.first == "--hook: no task of the list calls 'Cache.dsk'; did you mean 'Cache.disk'?")
    }
}
