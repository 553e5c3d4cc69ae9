import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// The container to be cleaned. It is closed between steps, so that a hook can use a store that is not mounted.
struct CleanedContainer {
    let target: Target
    let isForReading: Bool
    let console: Console

    /// Runs `body` with the folder of the container, and returns its result.
    func with<Result>(
        _ body: (any CleanableFolder, any ControlEndpoint) throws(CommandFailure) -> Result
    ) throws(CommandFailure) -> Result {
        let warnings = isForReading ? console : nil
        return try target.with(forReading: isForReading, warnings: warnings) { (control) throws(CommandFailure) in
            let folder: any CleanableFolder
            do throws(Errno) { folder = try control.cleanableFolder() } catch .noEntry {
                throw CommandFailure(
                    "cannot clean", path: control.place, "it is no longer mounted",
                    advice: "Mount it again, and make sure that no command of the list unmounts it.")
            } catch { throw CommandFailure("cannot clean", path: control.place, error) }
            return try body(folder, control)
        }
    }

    /// Returns a task for each directory that is registered with the age `manual`, to empty it. Directories below it that have
    /// a policy stay: it is the nearest policy that says what happens to a file.
    func manualTasks() throws(CommandFailure) -> [CleaningTask] {
        let lines = try with { (_, control) throws(CommandFailure) in try control.policies() }
        return lines.filter { $0.purgeAfter == "0" }.map { line in
            let above = line.path.isEmpty ? "" : line.path + "/"
            let inner = lines.map(\.path).filter { $0.hasPrefix(above) && $0 != line.path }
            return .remove(
                path: line.path.isEmpty ? "." : line.path, entries: ["*"],
                except: inner.map { String($0.dropFirst(above.count)) })
        }
    }

    /// Returns the absolute path of the container's files.
    func directory() throws(CommandFailure) -> String {
        let place = if case .store(let path) = target { path + "/container" } else { target.place }
        do throws(Errno) { return try System.resolved(place) } catch {
            throw CommandFailure("cannot clean", path: place, error)
        }
    }
}

extension ControlEndpoint {
    /// Returns the number of regular files, as the container counts them.
    func fileCount() throws(CommandFailure) -> Int64 {
        let tiers = try status().tiers
        return tiers.temporary.files + tiers.caches.files + tiers.persistent.files
    }
}
