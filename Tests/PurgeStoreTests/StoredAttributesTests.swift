import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeStore

/// The attributes of an entry in a store, read as a scan reads them.
struct StoredAttributesTests {
    private func read(_ values: [String: String]) throws -> StoredAttributes {
        try Scratch.with("attributes") { scratch in
            let path = "\(scratch.path)/file"
            try Files.write("", to: path)
            for (key, value) in values { try Support.Attributes.set(path, key, value) }
            let directory = try FileDescriptor.open(scratch.path, O_RDONLY | O_DIRECTORY)
            return try StoredAttributes(of: directory.raw, "file")
        }
    }

    @Test func nothingIsNothing() throws {
        let found = try read(["user.other": "1", "user.purgefs.raw.isPurgeable": "1"])
        #expect(found.mark == nil)
        #expect(!found.isExcluded && found.protection == nil && !found.hasExtents)
    }

    static let marks: [(String, PurgeMark?)] = [
        ("0", .notPurgeable), ("1", .purgeable(.low)), ("low", .purgeable(.low)), ("medium", .purgeable(.medium)),
        ("high", .purgeable(.high)), ("2", nil), ("", nil),
    ]
    @Test(arguments: marks) func aMarkIsUnderstood(value: String, mark: PurgeMark?) throws {
        #expect(try read(["user.purgefs.isPurgeable": value]).mark == mark)
    }

    @Test func flags() throws {
        #expect(try read(["user.purgefs.isExcludedFromBackup": "1"]).isExcluded)
        #expect(try !read(["user.purgefs.isExcludedFromBackup": "0"]).isExcluded)
        #expect(try read(["user.purgefs.fileProtection": "NSFileProtectionComplete"]).protection == .complete)
        #expect(try read(["user.purgefs.extents": "i"]).hasExtents)
    }

    /// All attributes are read although their names take more than 1 KiB.
    @Test func manyNamesAreReadWhole() throws {
        var values = ["user.purgefs.isPurgeable": "high", "user.purgefs.born": "5.000000001"]
        for number in 100..<130 { values["user.\(String(repeating: "x", count: 60))\(number)"] = "" }
        let found = try read(values)
        #expect(found.mark == .purgeable(.high) && found.born == Instant(seconds: 5, nanoseconds: 1))
    }

    @Test func longValuesAreReadWhole() throws {
        try Scratch.with("attributes") { scratch in
            let path = "\(scratch.path)/file"
            try Files.write("", to: path)
            let value = (0..<3000).map { UInt8(truncatingIfNeeded: $0) }
            try Support.Attributes.set(path, "user.long", value)
            let directory = try FileDescriptor.open(scratch.path, O_RDONLY | O_DIRECTORY)
            #expect(try StoredAttributes.value(of: directory.raw, "file", "user.long") == value)
            #expect(try StoredAttributes.value(of: directory.raw, "file", "user.none") == nil)
            #expect(try StoredAttributes.names(of: directory.raw, "file").map(\.text) == ["user.long"])
        }
    }
}
