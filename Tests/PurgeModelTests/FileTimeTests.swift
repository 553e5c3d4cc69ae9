import Testing

@testable import PurgeModel

struct FileTimeTests {
    private static let ends: [(FileTime, Int64, FileTime)] = [
        (FileTime(seconds: 10, nanoseconds: 5), 3, FileTime(seconds: 7, nanoseconds: 5)),
        (FileTime(seconds: 1, nanoseconds: 999_999_999), 3, FileTime(seconds: -2, nanoseconds: 999_999_999)),
        (FileTime(seconds: .min, nanoseconds: 1), 1, FileTime(seconds: .min, nanoseconds: 1)),
        (FileTime(seconds: .min + 1, nanoseconds: 0), 1, FileTime(seconds: .min, nanoseconds: 0)),
        (FileTime(seconds: .max, nanoseconds: 0), -1, FileTime(seconds: .max, nanoseconds: 0)),
        (FileTime(seconds: .max, nanoseconds: 0), 1, FileTime(seconds: .max - 1, nanoseconds: 0)),
    ]
    @Test(arguments: ends) func theEndsOfTheRangeHold(time: FileTime, span: Int64, earlier: FileTime) {
        #expect(time.earlier(by: span) == earlier)
    }

    private static let instants: [(Int64, FileTime)] = [
        (0, FileTime(seconds: 0, nanoseconds: 0)), (-1, FileTime(seconds: -1, nanoseconds: 999_999_999)),
        (-1_000_000_000, FileTime(seconds: -1, nanoseconds: 0)),
        (1_500_000_000, FileTime(seconds: 1, nanoseconds: 500_000_000)),
        (.max, FileTime(seconds: 9_223_372_036, nanoseconds: 854_775_807)),
        (.min, FileTime(seconds: -9_223_372_037, nanoseconds: 145_224_192)),
    ]
    @Test(arguments: instants) func aMomentIsATime(nanoseconds: Int64, time: FileTime) {
        #expect(FileTime(Instant(nanoseconds: nanoseconds)) == time)
    }

    @Test func nanosecondsDecideWithinASecond() {
        let (early, late) = (FileTime(seconds: -1, nanoseconds: 1), FileTime(seconds: -1, nanoseconds: 2))
        #expect(early < late && late < FileTime(seconds: 0, nanoseconds: 0))
    }

    private static let texts: [(String, FileTime?)] = [
        ("1763822199.000000001", FileTime(seconds: 1_763_822_199, nanoseconds: 1)),
        ("-5.999999999", FileTime(seconds: -5, nanoseconds: 999_999_999)),
        ("-9223372036854775808.000000000", FileTime(seconds: .min, nanoseconds: 0)),
        ("9223372036854775808.000000000", nil), ("1.1000000000", nil), ("1.00000000", nil), ("1", nil), ("1.", nil),
        (".000000000", nil), ("01.000000000", nil), ("+1.000000000", nil), ("1.-00000001", nil),
        ("1.+00000001", nil), ("1.000000000.", nil), ("", nil), ("-0.000000000", nil), (" 1.000000000", nil),
        ("0.000000000", FileTime(seconds: 0, nanoseconds: 0)), ("-1.000000000", FileTime(seconds: -1, nanoseconds: 0)),
        ("9223372036854775807.999999999", FileTime(seconds: .max, nanoseconds: 999_999_999)),
        ("-9223372036854775809.000000000", nil), ("18446744073709551617.000000000", nil), ("-.000000000", nil),
        ("--1.000000000", nil), ("-01.000000000", nil), ("00.000000000", nil), ("1,000000000", nil),
        ("1.00000000/", nil), (":.000000000", nil), ("1..000000000", nil), ("1.000000000\0", nil),
        ("1.00000000a", nil), ("1\0.000000000", nil),
        ("1.000000000\n", nil), ("\u{661}.000000000", nil), ("1.00000000\u{661}", nil), ("1.\u{301}00000000", nil),
        ("10.000000000", FileTime(seconds: 10, nanoseconds: 0)), (".", nil), ("-", nil), ("0x1.000000000", nil),
    ]
    @Test(arguments: texts) func itsText(text: String, time: FileTime?) {
        #expect(FileTime(text: text) == time)
        if let time { #expect(time.text == text) }
    }

    @Test func bytesThatAreNoText() {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<11 {
                var bytes = Array("1.000000000".utf8)
                bytes[place] = byte
                let isDigit = (48...57).contains(byte)
                let isTime = place == 1 ? byte == UInt8(ascii: ".") : isDigit
                #expect((FileTime(utf8: bytes) != nil) == isTime, "\(bytes)")
            }
        }
    }
}
