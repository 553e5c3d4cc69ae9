#if os(Linux)
public import Foundation
import Synchronization

/// What `APUserCacheCleaner` does.
public enum APCacheCleanPhase: UInt, CaseIterable, Sendable {
    case preCalculating, cleaning, postCalculating, done
}

/// The cleaner of mPaaS: carries out the tasks of `PurgeableCache.plist` in the app's bundle folder, and empties the folders
/// that have the type `manual` (docs/CLEANER.md).
open class APUserCacheCleaner: NSObject {
    /// Cleanings run one after the other.
    private static let queue = DispatchQueue(label: "APUserCacheCleaner")
    /// The methods of the app by `Class.selector`.
    private static let methods = Mutex<[String: @Sendable () -> Void]>([:])

    /// Sets what a task of the list with this `Class` and selector calls, on the cleaner's queue. mPaaS finds the class method
    /// itself; on Linux no class method can be called by its name.
    public class func setMethod(_ name: String, of type: String, _ body: @escaping @Sendable () -> Void) {
        methods.withLock { $0["\(type).\(name)"] = body }
    }

    /// Begins to clean, and returns at once. `callback` is called on the main queue: in the first three phases with the
    /// progress from 0 to 1, and at the end with `done` and by how many MB of 2^20 bytes the container's use has shrunk.
    /// Failures are logged. Outside a container nothing is removed.
    public class func execute(_ callback: @escaping @Sendable (APCacheCleanPhase, Float) -> Void) {
        queue.async {
            clean { phase, progress in DispatchQueue.main.async { callback(phase, progress) } }
        }
    }

    private static func clean(_ report: (APCacheCleanPhase, Float) -> Void) {
        let container = CleanedHome(NSHomeDirectory())
        report(.preCalculating, 0)
        let before = container?.use ?? 0
        report(.preCalculating, 1)
        report(.cleaning, 0)
        let tasks = container.map(tasks) ?? []
        for (index, task) in tasks.enumerated() {
            do {
                if case .call(let type, let selectors) = task {
                    try call(selectors.map { "\(type).\($0)" })
                } else {
                    try container?.carryOut(task)
                }
            } catch { NSLog("APUserCacheCleaner: task \(index + 1): \(error)") }
            if index + 1 < tasks.count { report(.cleaning, Float(index + 1) / Float(tasks.count)) }
        }
        report(.cleaning, 1)
        report(.postCalculating, 0)
        let after = container?.use ?? 0
        report(.postCalculating, 1)
        report(.done, Float(max(0, before - after)) / 1_048_576)
    }

    /// Returns the tasks of the list and then those for manual folders; none if the list is damaged.
    private static func tasks(_ container: CleanedHome) -> [CacheTask] {
        let list = Bundle.main.bundleURL.appendingPathComponent("PurgeableCache.plist")
        do {
            let data = FileManager.default.fileExists(atPath: list.path) ? try Data(contentsOf: list) : nil
            return try (data.map(CacheTask.list) ?? []) + container.manualFolders()
        } catch {
            NSLog("APUserCacheCleaner: \(list.path): \(error)")
            return []
        }
    }

    /// Calls every method that the app has set, and throws if it has not set one of them.
    private static func call(_ names: [String]) throws {
        let known = methods.withLock { $0 }
        for name in names { known[name]?() }
        if let unknown = names.first(where: { known[$0] == nil }) {
            throw CacheTask.Failure("no method was set for \(unknown)")
        }
    }
}
#endif
