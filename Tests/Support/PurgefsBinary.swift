import Foundation

/// The program under test: $PURGEFS_BINARY, or the release build of this package.
public enum PurgefsBinary {
    public static let path: String = {
        if let given = ProcessInfo.processInfo.environment["PURGEFS_BINARY"] { return given }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        return "\(package)/.build/release/purgefs"
    }()

    /// Returns the path of a program that is built with the tests.
    public static func besideTests(_ name: String) -> String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path + "/\(name)"
    }

    /// Runs a verb to its end.
    @discardableResult
    public static func run(
        _ arguments: String..., in directory: String? = nil, environment: [String: String] = [:],
        timeout: Double = Scale.patience
    ) throws -> Outcome {
        try Program.run([path] + arguments, in: directory, environment: environment, timeout: timeout)
    }

    /// Runs a shell script in which $P is the program. With `inNamespace`, the script gets its own mount namespace.
    @discardableResult
    public static func shell(
        _ script: String, in directory: String, environment: [String: String] = [:], inNamespace: Bool = false,
        timeout: Double = Scale.patience
    ) throws -> Outcome {
        let namespace = inNamespace ? ["unshare", "--mount", "--propagation", "private"] : []
        return try Program.run(
            namespace + ["sh", "-c", script], in: directory, environment: environment.merging(["P": path]) { $1 },
            timeout: timeout)
    }
}
