import PurgeModel
import Testing

struct ContainerPathTests {
    private static let id = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"

    struct Case: Sendable {
        var text: String
        /// The path in the container; nil if the text does not begin with a path into one.
        var inner: String?
        init(_ text: String, _ inner: String?) { (self.text, self.inner) = (text, inner) }
    }

    private static let cases = [
        Case("/Containers/Data/Application/\(id)/Documents/a", "Documents/a"),
        Case("/private/var/mobile/Containers/Data/Application/\(id)/Documents/a b", "Documents/a b"),
        Case("/tmp/purgefs-run.aB3dE5/Containers/Data/Application/\(id)", ""),
        Case("/var/mobile/Containers/Data/Application/\(id)/", ""),
        Case("/var/mobile/Containers/Data/Application/\(id)//Library/./x/../Caches/", "Library/Caches"),
        Case("/x y/Containers/Data/Application/\(id.lowercased())/a%20b", "a%20b"),
        Case("/x/Containers/Data/Application/\(id)/a/Containers/Data/Application/x", "a/Containers/Data/Application/x"),
        Case("file:///var/mobile/Containers/Data/Application/\(id)/Documents/a%20b%2", "Documents/a b%2"),
        Case("file://localhost/Containers/Data/Application/\(id)/%C3%BC", "\u{FC}"),
        Case("file:/Containers/Data/Application/\(id)/a", "a"),
        Case("", nil), Case("/", nil), Case("file://", nil), Case("/Containers/Data/Application/", nil),
        Case("see /var/Containers/Data/Application/\(id)/a", nil),
        Case("Containers/Data/Application/\(id)/a", nil),
        Case("https://example.org/Containers/Data/Application/\(id)/a", nil),
        Case("file://host/Containers/Data/Application/\(id)/a", nil),
        Case("/var/Containers/Data/Application/\(id)x/a", nil),
        Case("/var/Containers/Data/Application/\(id.dropLast())/a", nil),
        Case("/var/Containers/Data/Application/\(id.dropLast())g/a", nil),
        Case("/var/Containers/Shared/AppGroup/\(id)/a", nil),
        Case("/var/Containers/Data/Application/\(id)/../a", nil),
        Case("/help\n/var/Containers/Data/Application/\(id)/a", nil),
        Case("/var/Containers/Data/Application/\(id)/a\0", nil),
        Case("/" + String(repeating: "x", count: 1025) + "/Containers/Data/Application/\(id)/a", nil),
    ]

    @Test(arguments: cases) func parses(row: Case) {
        let path = ContainerPath(Array(row.text.utf8)[...])
        #expect(path?.inner == row.inner.map { Array($0.utf8) }, "\(row.text)")
        #expect(path == nil || path?.container == Self.id)
    }
}
