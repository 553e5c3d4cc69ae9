import Foundation

/// The app under test. It knows nothing of containers: the test passes it a home directory.
public struct Album: Sendable {
    private let photos: URL
    private let thumbnails: URL

    public init(home: URL) {
        photos = home.appendingPathComponent("Documents", isDirectory: true)
        thumbnails = home.appendingPathComponent("Library/Caches", isDirectory: true)
    }

    public func save(_ photo: Data, as name: String) throws {
        try photo.write(to: photos.appendingPathComponent(name))
    }

    public func keep(thumbnail: Data, of name: String) throws {
        try thumbnail.write(to: thumbnails.appendingPathComponent(name))
    }

    public func thumbnail(of name: String) -> Data? { try? Data(contentsOf: thumbnails.appendingPathComponent(name)) }
}
