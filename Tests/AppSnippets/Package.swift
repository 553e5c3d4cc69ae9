// swift-tools-version: 6.0
import PackageDescription

// Apps written as for iOS, in a separate package that depends on this one. `make snippets` builds and runs them.
let package = Package(
    name: "AppSnippets",
    dependencies: [.package(name: "purgefs", path: "../..")],
    targets: [
        // The files of this target import only Foundation.
        .executableTarget(
            name: "AppSnippets", dependencies: [.product(name: "ContainerStorage", package: "purgefs")],
            plugins: [.plugin(name: "ContainerStoragePlugin", package: "purgefs")]),
        // This target imports the library instead of using the plugin.
        .executableTarget(name: "ByImport", dependencies: [.product(name: "ContainerStorage", package: "purgefs")]),
    ],
    swiftLanguageModes: [.v6]
)
