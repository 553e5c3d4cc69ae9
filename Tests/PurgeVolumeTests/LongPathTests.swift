import PurgeModel
import Support
import Testing

@testable import PurgeVolume

/// Events of name changes by the app, in trees deeper than any path that a program can use.
struct LongPathTests {
    private static let folder = String(repeating: "n", count: 250)

    /// With 70 folders of 250 bytes a path has 17,581 bytes. The event records only its end: `.../`, 65 of the folders, and a
    /// name of one byte, which is 16,320 bytes.
    @Test func theEndIsTold() throws {
        try withStore { path in
            let live = try LiveVolume(path)
            var folders = "Documents"
            for depth in 1...70 {
                folders += "/" + Self.folder
                try live.makeDirectory(folders)
                guard depth == 40 || depth == 70 else { continue }
                live.volume.close(try live.create("\(folders)/f"))
                try live.rename("\(folders)/f", "\(folders)/g")
                try live.unlink("\(folders)/g")
            }
            let told = try live.journal().filter { $0.type.isOfApp }
            #expect(told.map(\.type) == [.renamed, .removed, .renamed, .removed])
            let whole = "Documents" + String(repeating: "/" + Self.folder, count: 40)
            let end = "..." + String(repeating: "/" + Self.folder, count: 65)
            #expect(told.map(\.path) == [whole + "/f", whole + "/g", end + "/f", end + "/g"])
            #expect(told.map(\.to) == [whole + "/g", nil, end + "/g", nil])
            live.volume.end()
        }
    }
}
