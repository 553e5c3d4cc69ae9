import Glibc
import PurgeSystem
import Testing

@testable import PurgeTree

extension Name {
    /// Creates a name of any bytes except `/` and zero.
    init(bytes: [UInt8]) {
        self = (bytes + [0]).withUnsafeBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { chars in chars.baseAddress.map { Name($0) } ?? Name("") }
        }
    }
}

struct NameTests {
    static let every: [[UInt8]] =
        [[], [0x61], [0xFF], [0xC3, 0xA9], [0xC3], [0xED, 0xA0, 0x80], Array(1...255).filter { $0 != 0x2F }]
        + [[UInt8](repeating: 0x78, count: 255)]

    @Test(arguments: every) func keepsItsBytes(bytes: [UInt8]) throws {
        let name = Name(bytes: bytes)
        #expect(Array(name.utf8) == bytes)
        let seen = try name.withCName { (pointer) throws(Errno) in
            UnsafeRawBufferPointer(start: pointer, count: strlen(pointer) + 1).map { $0 }
        }
        #expect(seen == bytes + [0])
    }

    @Test func whatIsNoUTF8IsShownAsReplaced() {
        #expect(Name(bytes: [0x61, 0xFF, 0x62]).text == "a\u{FFFD}b")
        #expect(Name(bytes: [0xC3, 0xA9]).text == "\u{E9}")
    }

    /// Names with different bytes differ, even if they are equal as Strings.
    @Test func composedAndDecomposedAreTwo() {
        #expect(Name(bytes: [0xC3, 0xA9]) != Name(bytes: [0x65, 0xCC, 0x81]))
        #expect(Set([Name(bytes: [0xFE]), Name(bytes: [0xFF]), Name(bytes: [0xFE])]).count == 2)
    }

    @Test func equalsALiteral() {
        #expect(Name("Caches").isEqual(to: "Caches"))
        for other in ["caches", "Cache", "Caches2", ""] as [String] {
            #expect(!Name(bytes: Array(other.utf8)).isEqual(to: "Caches"))
        }
        #expect(Name("tmp") == Name(bytes: [0x74, 0x6D, 0x70]))
    }

    @Test func failuresPassThrough() {
        #expect(throws: Errno.ioError) { try Name("x").withCName { (_) throws(Errno) in throw Errno.ioError } }
    }
}
