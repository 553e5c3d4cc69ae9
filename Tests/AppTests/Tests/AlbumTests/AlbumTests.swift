import Album
import ContainerTesting
import Foundation
import Testing

@Suite(.container(total: "64M", others: "8M"))
struct AlbumTests {
    let container: Container
    let album: Album

    init() throws {
        container = try #require(Container.current)
        album = Album(home: container.url)
    }

    @Test func diskFullInASave() throws {
        try container.fill(leaving: "512K")
        #expect(throws: CocoaError.self) { try album.save(Data(count: 1 << 20), as: "photo") }
    }

    @Test func photosInCachesVanish() throws {
        try album.keep(thumbnail: Data(count: 4096), of: "photo")
        try container.set(others: "+56M")  // the rest of the device grows until it is full
        try container.expectPurge(of: "Library/Caches/photo")
        #expect(album.thumbnail(of: "photo") == nil)
    }

    @Test func lockedInTheBackground() throws {
        try container.mark("Documents", protection: .complete)  // also applies to files that an atomic save makes
        try album.save(Data(count: 4096), as: "photo")
        try container.lock()
        #expect(throws: CocoaError.self) { try album.save(Data(count: 4096), as: "photo") }
    }

    @Test(.container(others: "40M")) func threeWeeksLater() throws {
        try container.mark("Library/Caches", after: .weeks(1))
        try album.keep(thumbnail: Data(count: 4096), of: "old")
        try container.advance(.weeks(3))
        try container.app(.terminate)
        try container.app(.launch)  // carries out policies in the background
        #expect(try container.expectPurge(of: "Library/Caches/old").trigger == .policy)
    }
}
