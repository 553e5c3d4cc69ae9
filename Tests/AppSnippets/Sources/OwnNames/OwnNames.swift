import Foundation

// An app with types of its own named as in the plugin's file. It mentions URLSession, and declares a URLCache.

struct Set { var repetitions: Int }
struct StoredValues {}
enum ProtectedItems {}
struct URLCache { var session: URLSession }

actor Saver {
    func save(_ data: Foundation.Data, to url: Foundation.URL) throws -> Int64? {
        try data.write(to: url, options: .completeFileProtection)
        try FileManager.default.setAttributes([.protectionKey: FileProtectionType.complete], ofItemAtPath: url.path)
        return try url.resourceValues(forKeys: [.volumeAvailableCapacityForImportantUsageKey])
            .volumeAvailableCapacityForImportantUsage
    }
}
