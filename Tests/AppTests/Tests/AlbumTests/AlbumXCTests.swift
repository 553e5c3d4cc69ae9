import Album
import ContainerTesting
import ContainerXCTest
import XCTest

final class AlbumXCTests: XCTestCase {
    func testDiskFullInASave() throws {
        let container = try makeContainer(total: "64M", others: "8M")
        try container.fill(leaving: "512K")
        XCTAssertThrowsError(try Album(home: container.url).save(Data(count: 1 << 20), as: "photo"))
        XCTAssertEqual(try container.events(.refused).map(\.path), ["Documents/photo"])
    }
}
