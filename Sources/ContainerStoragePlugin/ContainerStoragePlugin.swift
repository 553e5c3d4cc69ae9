import Foundation
import PackagePlugin

/// Generates a file that declares the names of `ContainerStorage` in the app's own module, where they take precedence over
/// Foundation's. So the app's files need to import only Foundation.
@main
struct ContainerStoragePlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let library = target.recursiveTargetDependencies.first { $0.name == "ContainerStorage" }
        let names = library?.sourceModule?.sourceFiles
        guard let shadows = names?.first(where: { $0.url.lastPathComponent == "Shadows.swift" })?.url else {
            Diagnostics.error(
                """
                target \(target.name) uses ContainerStoragePlugin without its library. Add to the dependencies of the target: \
                .product(name: "ContainerStorage", package: "purgefs")
                """)
            return []
        }
        let generated = context.pluginWorkDirectoryURL.appendingPathComponent("ContainerStorage+Shadows.swift")
        let sources = target.sourceModule?.sourceFiles(withSuffix: ".swift").map(\.url) ?? []
        if target.sourceModule?.kind == .executable, let file = sources.first, sources.count == 1,
            file.lastPathComponent != "main.swift", try !String(contentsOf: file, encoding: .utf8).contains("@main")
        {
            Diagnostics.warning(
                """
                target \(target.name) does not get the names of ContainerStorage: with a second file, only a file named \
                main.swift may have statements at the top level. Rename \(file.lastPathComponent) to main.swift.
                """)
            return []
        }
        return [
            .buildCommand(
                displayName: "Declaring the names of ContainerStorage in \(target.name)",
                executable: URL(fileURLWithPath: "/bin/sh"),
                arguments: ["-c", Self.script, "sh", shadows.path, generated.path] + sources.map(\.path),
                inputFiles: [shadows] + sources, outputFiles: [generated])
        ]
    }

    /// Converts `$1`, the library's declarations, to `$2`, the declarations for the app's module. They are public, because
    /// public and inlinable code of the app may use them. In a module that imports the app's, Foundation's names are preferred
    /// to them. Names that Foundation lacks come from ContainerValues, so the app may declare the same names itself.
    ///
    /// On Linux, `URLSession` and related types are in FoundationNetworking, which iOS code does not import. If a target
    /// mentions one of them without importing that module, the generated file also declares them, except for types that the
    /// target declares itself. It does not do so for other targets, because the module brings libcurl and 30 other libraries.
    /// The generated file is replaced only if its content changes, because a new file recompiles the app.
    private static let script = """
        shadows=$1 generated=$2
        shift 2
        network="URLSession URLSessionConfiguration URLSessionTask URLSessionDataTask URLSessionDownloadTask \
        URLSessionUploadTask URLSessionDelegate URLSessionTaskDelegate URLSessionDataDelegate URLSessionDownloadDelegate \
        URLRequest URLResponse HTTPURLResponse CachedURLResponse URLCache URLProtocol URLCredential \
        URLAuthenticationChallenge HTTPCookie HTTPCookieStorage"
        {
            sed -e 's/^@_exported import Foundation/public import Foundation/' \\
                -e 's/^    nonisolated public /    @_disfavoredOverload nonisolated public /' "$shadows" || exit
            if grep -qswE "$(echo $network | tr ' ' '|')" "$@" && ! grep -qsw 'import FoundationNetworking' "$@"; then
                echo '#if canImport(FoundationNetworking)'
                echo '@_exported import FoundationNetworking'
                for name in $network; do
                    grep -qsE "^[a-z@ ]*(class|struct|enum|actor|protocol|typealias) $name\\b" "$@" ||
                        echo "public typealias $name = FoundationNetworking.$name"
                done
                echo '#endif'
            fi
        } > "$generated.new" && if cmp -s "$generated.new" "$generated"; then rm "$generated.new"; else mv "$generated.new" "$generated"; fi
        """
}
