import PurgeModel
import Support
import Testing

@testable import PurgeDiagnosis

/// The readers of property lists, JSON and write-ahead logs. Databases are tested on mounts, with real ones.
struct StaleTextsTests {
    private static let old = "/Containers/Data/Application/3F2504E0-4F89-41D3-9A0C-0305E82C3301"
    private static let present = "/Containers/Data/Application/6FA459EA-EE8A-3CA4-894E-DB77E160355E"

    private static func found(_ content: [UInt8]) -> String? {
        guard let format = StaleTexts.Format(Array(content.prefix(StaleTexts.Format.beginning))) else { return nil }
        var texts = StaleTexts(present: "6FA459EA-EE8A-3CA4-894E-DB77E160355E")
        texts.examine(content, format)
        let inner = texts.first.map { String(decoding: $0.path.inner, as: UTF8.self) } ?? ""
        return ["\(texts.count)", inner, texts.first?.place].compactMap { $0 }.joined(separator: " ")
    }

    /// The expression of a generated column can take any time and memory, so such a column is not read.
    @Test func generatedColumns() throws {
        try Scratch.with("generated") { scratch in
            let file = "\(scratch.path)/db"
            let column = "p text generated always as ('\(Self.old)/generated')"
            try Program.run("sqlite3", file, "create table t(a text, \(column)); insert into t values('\(Self.old)/a')")
                .succeeded()
            #expect(try Self.found(Files.content(file))?.hasPrefix("1 ") == true)
        }
    }

    private static let xml = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>
            <!-- <string>\(old)/comment</string> -->
            <key>now</key><string>\(present)/a</string>
            <key>seen</key><string>at \(old)/a</string>
            <key>re&amp;cent</key><array><string>x</string><string>\(old)/a &lt;&amp;&gt;</string></array>
            <key>file://\(old)/key</key><true/>
        </dict></plist>

        """

    /// Written by Python's plistlib: a dictionary of `a`, the path of `Documents/a`, and `b`, an array with the path of
    /// `Documents/ü`, `x` and 1.
    private static let binary = bytes(
        "62706c6973743030d201020304516151625f104d2f436f6e7461696e6572732f446174612f4170706c69636174696f6e2f33463235303445"
            + "302d344638392d343144332d394130432d3033303545383243333330312f446f63756d656e74732f61a30506076f104d002f0043006f"
            + "006e007400610069006e006500720073002f0044006100740061002f004100700070006c00690063006100740069006f006e002f0033"
            + "0046003200350030003400450030002d0034004600380039002d0034003100440033002d0039004100300043002d0030003300300035"
            + "00450038003200430033003300300031002f0044006f00630075006d0065006e00740073002f00fc517810010008000d000f00110061"
            + "0065010201040000000000000201000000000000000800000000000000000000000000000106")

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }

    private static let escaped = old.split(separator: "/").map { "\\/" + $0 }.joined()
    private static let json = #"""
        {"now": "\#(present)/a", "seen": "at \#(old)/a", "items": [1, {"path": "\#(escaped)\/Documents\/\u00fc"}],
        "file://\#(old)/key": null}
        """#

    @Test func propertyLists() {
        #expect(Self.found(Array(Self.xml.utf8)) == "2 a <&> re&cent")
        #expect(Self.found(Self.binary) == "2 Documents/a")
        #expect(Self.found(Array("<plist><string>\(Self.old)/a</string>".utf8)) == "0 ")
        #expect(Self.found(Array("<html><string>\(Self.old)/a</string></html>".utf8)) == nil)
    }

    @Test func jsonTexts() {
        #expect(Self.found([0xEF, 0xBB, 0xBF, 0x20] + Self.json.utf8) == #"2 Documents/ü $.items[1].path"#)
        #expect(Self.found(Array(#"["\#(Self.old)"]"#.utf8)) == "1  $[0]")
        #expect(Self.found(Array(#"[12:00] "\#(Self.old)/a""#.utf8)) == "0 ")
        #expect(Self.found(Array(#""\#(Self.old)/a""#.utf8)) == nil)
        #expect(Self.found(Array((String(repeating: "[", count: 100_000) + #""\#(Self.old)""#).utf8)) == "0 ")
    }

    /// Damaged content ends neither in a trap nor in a long search.
    @Test func damage() {
        var random = SeededGenerator(seed: 38)
        for content in [Self.binary, Array(Self.xml.utf8), Array(Self.json.utf8)] {
            for _ in 0..<max(200, Int(2000 * Scale.factor)) {
                var damaged = content
                for _ in 0...random.below(3) { damaged[random.below(damaged.count)] = UInt8(random.below(256)) }
                if random.below(4) == 0 { damaged.removeLast(random.below(damaged.count - 1)) }
                _ = Self.found(damaged)
            }
        }
        for place in (Self.binary.count - 26)..<Self.binary.count {
            for byte in [UInt8.max, 0x7F, 0x80] {
                var damaged = Self.binary
                damaged[place] = byte
                _ = Self.found(damaged)
            }
        }
    }
}

/// Logs with pages of 512 bytes.
struct WriteAheadLogTests {
    private static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }

    private static let header = [0x377F_0682, 3_007_000, 512, 0, 11, 12, 0, 0].flatMap(number)

    /// A frame that fills page `page` with `byte`. `size` is the number of pages for the last frame of a transaction, else 0.
    private static func frame(_ page: Int, _ byte: UInt8, size: Int = 0, salt: Int = 11) -> [UInt8] {
        [page, size, salt, 12, 0, 0].flatMap(number) + [UInt8](repeating: byte, count: 512)
    }

    /// Returns the first byte of each page of an image of two pages after the log was applied.
    private static func applied(_ frames: [UInt8]..., header: [UInt8] = header, most: Int = 4096) -> [UInt8] {
        var image = [UInt8](repeating: 1, count: 1024)
        (image[16], image[17]) = (2, 0)
        WriteAheadLog.apply(header + frames.joined(), to: &image, most: most)
        return stride(from: 0, to: image.count, by: 512).map { image[$0] }
    }

    @Test func committedPages() {
        #expect(Self.applied(Self.frame(2, 7, size: 2)) == [1, 7])
        #expect(Self.applied(Self.frame(2, 7), Self.frame(4, 8, size: 4)) == [1, 7, 0, 8])
        #expect(Self.applied(Self.frame(2, 7, size: 2), Self.frame(2, 8, size: 2)) == [1, 8])
    }

    @Test func otherPages() {
        #expect(Self.applied() == [1, 1])
        #expect(Self.applied(Self.frame(2, 7)) == [1, 1])
        #expect(Self.applied(Self.frame(2, 7, size: 2), Self.frame(2, 8)) == [1, 7])
        #expect(Self.applied(Self.frame(2, 7, size: 2, salt: 10)) == [1, 1])
        #expect(Self.applied(Self.frame(9, 7, size: 9)) == [1, 1])
        #expect(Self.applied(Self.frame(0, 7, size: 2)) == [1, 1])
        #expect(Self.applied(Array(Self.frame(2, 7, size: 2).dropLast())) == [1, 1])
        #expect(Self.applied(Self.frame(2, 7, size: 2), header: Array(Self.header.dropLast())) == [1, 1])
        #expect(Self.applied(Self.frame(2, 7, size: 2), header: [UInt8](repeating: 0, count: 32)) == [1, 1])
    }
}
