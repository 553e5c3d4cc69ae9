import Glibc
import Support
import Testing

/// Files in the store that nobody can change or remove, because they have the immutable flag (ext4, XFS, btrfs).
enum Immutable {
    static let isPossible: Bool = {
        do {
            return try Scratch.with("immutable") { scratch in
                let file = "\(scratch.path)/f"
                try Files.write("", to: file)
                let result = try Program.run("chattr", "+i", file)
                try Program.run("chattr", "-i", file)
                return result.status == 0
            }
        } catch { return false }
    }()

    /// Runs `body` while the file or directory at `path` cannot be changed.
    @discardableResult
    static func with<R>(_ path: String, _ body: () throws -> R) throws -> R {
        try Program.run("chattr", "+i", path).succeeded()
        let result = Result { try body() }
        try Program.run("chattr", "-i", path).succeeded()
        return try result.get()
    }
}

extension Trait where Self == ConditionTrait {
    static var needsImmutableFiles: Self {
        .enabled(if: Immutable.isPossible, "needs chattr +i: root on ext4, XFS or btrfs")
    }
}
