import Foundation
import PackagePlugin

/// Puts the names of `ContainerStorage` into the module of an app, where they come before Foundation's: its files need to import
/// nothing but Foundation. They are those of the library, as declarations of the app's own.
@main
struct ContainerStoragePlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let library = target.recursiveTargetDependencies.first { $0.name == "ContainerStorage" }
        let sources = library?.sourceModule?.sourceFiles
        guard let shadows = sources?.first(where: { $0.url.lastPathComponent == "Shadows.swift" })?.url else {
            Diagnostics.error(
                """
                target \(target.name) uses ContainerStoragePlugin without its library. Add to the dependencies of the target: \
                .product(name: "ContainerStorage", package: "purgefs")
                """)
            return []
        }
        let generated = context.pluginWorkDirectoryURL.appendingPathComponent("ContainerStorage+Shadows.swift")
        // Not public: each module that wants them has its own, so what imports an app's module sees Foundation's names once.
        return [
            .buildCommand(
                displayName: "Declaring the names of ContainerStorage in \(target.name)",
                executable: URL(fileURLWithPath: "/bin/sed"),
                arguments: [
                    "-n", "-e", "s/@_exported import/import/", "-e", "s/^\\( *\\)public /\\1/",
                    "-e", "w \(generated.path)", shadows.path,
                ],
                inputFiles: [shadows], outputFiles: [generated])
        ]
    }
}
