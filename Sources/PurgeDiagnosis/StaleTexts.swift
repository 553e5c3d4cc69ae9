import PurgeModel

/// The texts of a file that begin with a path into a container other than the present one.
struct StaleTexts: Hashable, Sendable {
    struct First: Hashable, Sendable {
        var path: ContainerPath
        /// Where the text is: a table and column, the key of a property list, or a path in JSON.
        var place: String?
    }

    /// The UUID of the present container, in capital letters.
    let present: String
    private(set) var count = 0
    private(set) var first: First?

    init(present: String) { self.present = present }

    mutating func note(_ text: ArraySlice<UInt8>, in place: @autoclosure () -> String?) {
        guard let path = ContainerPath(text), path.container != present else { return }
        if first == nil { first = First(path: path, place: place()) }
        count += 1
    }
}

extension StaleTexts {
    /// The formats whose texts are examined. The first bytes decide, not the name.
    enum Format {
        case database, binaryPropertyList, xmlPropertyList, json

        /// How many bytes at the beginning of a file are read to recognize its format.
        static let beginning = 512

        init?(_ beginning: [UInt8]) {
            if beginning.starts(with: "SQLite format 3\0".utf8) {
                self = .database
                return
            }
            if beginning.starts(with: "bplist00".utf8) {
                self = .binaryPropertyList
                return
            }
            let text = StaleTexts.text(beginning[...])
            switch text.first {
            case UInt8(ascii: "{"), UInt8(ascii: "["): self = .json
            case UInt8(ascii: "<") where text.firstRange(of: "plist") != nil: self = .xmlPropertyList
            default: return nil
            }
        }

        /// The size in bytes above which files of this format are not examined.
        var largest: Int {
            switch self {
            case .database: 64 << 20
            case .binaryPropertyList, .xmlPropertyList, .json: 16 << 20
            }
        }
    }

    /// Examines the content of a file; `log` is a database's write-ahead log, or empty. Damaged content adds nothing, or what
    /// comes before the damage.
    mutating func examine(_ content: [UInt8], _ format: Format, log: [UInt8] = []) {
        switch format {
        case .binaryPropertyList: PropertyListTexts.binary(content, &self)
        case .xmlPropertyList: PropertyListTexts.xml(Self.text(content[...]), &self)
        case .json: DatabaseTexts.json(Self.text(content[...]), &self)
        case .database:
            var image = content
            WriteAheadLog.apply(log, to: &image, most: format.largest)
            DatabaseTexts.database(image, &self)
        }
    }

    /// Drops a byte order mark and white space at the beginning.
    private static func text(_ content: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return (content.starts(with: mark) ? content.dropFirst(mark.count) : content).drop(while: isBlank)
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

extension ArraySlice<UInt8> {
    /// Returns the range of the first occurrence of `text`, which is not empty.
    func firstRange(of text: StaticString) -> Range<Int>? {
        let text = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        var rest = self
        while let start = rest.firstIndex(of: text[0]) {
            rest = rest[start...]
            if rest.starts(with: text) { return start..<start + text.count }
            rest = rest.dropFirst()
        }
        return nil
    }
}
