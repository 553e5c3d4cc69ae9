import Glibc
import PurgeSystem

extension ContainerLayout {
    private enum FolderState {
        case present, missing, obstructed
        /// A folder above this one is missing or obstructed, or may not be searched.
        case unreachable
    }

    func inspect(repairing: Bool) throws(StoreError) -> [StoreProblem] {
        var problems: [StoreProblem] = []
        for folder in ["container"] + Self.folders.map({ "container/" + $0 }) {
            if let problem = problem(of: try state(ofFolder: folder), folder: folder) { problems.append(problem) }
        }
        guard repairing, problems.contains(where: \.isRepairable) else { return problems }
        try make()
        for index in problems.indices where problems[index].isRepairable {
            problems[index].repair = "An empty folder has been created."
        }
        return problems
    }

    private func problem(of state: FolderState, folder: String) -> StoreProblem? {
        switch state {
        case .present, .unreachable:
            nil
        case .missing where folder != "container":
            nil  // the next mount creates it again, as iOS would
        case .missing:
            StoreProblem(
                path: place.pathOf(folder), what: "the folder is missing",
                advice: "Put it back from a copy, or let "
                    + "`purgefs check --repair \(ShellWord.of(place.path))` make an empty one.",
                isRepairable: true)
        case .obstructed:
            StoreProblem(
                path: place.pathOf(folder), what: "is not a directory",
                advice: "Move it out of the way; purgefs leaves it as it is.", isRepairable: false)
        }
    }

    private func state(ofFolder folder: String) throws(StoreError) -> FolderState {
        do throws(Errno) {
            var (parents, name) = (folder.split(separator: "/").map(String.init), "")
            name = parents.removeLast()
            var directory = place.descriptor
            for parent in parents {
                guard try directory.kind(of: parent) == S_IFDIR else { return .unreachable }
                directory = try directory.open(parent, O_RDONLY | O_DIRECTORY)
            }
            switch try directory.kind(of: name) {
            case nil: return .missing
            case S_IFDIR: return .present
            default: return .obstructed
            }
        } catch .accessDenied {
            return .unreachable  // the app has removed permissions on a folder above, which exists
        } catch { throw .failed("the folder cannot be examined", path: place.pathOf(folder), error) }
    }
}
