// swift-tools-version: 6.0
import PackageDescription

// Apps as they are written for iOS, in a package of their own that has this one as a dependency. `make snippets` builds and runs them.
let package = Package(
    name: "AppSnippets",
    dependencies: [.package(name: "purgefs", path: "../..")],
    targets: [
        // Its files import nothing but Foundation.
        .executableTarget(
            name: "AppSnippets", dependencies: [.product(name: "ContainerStorage", package: "purgefs")],
            plugins: [.plugin(name: "ContainerStoragePlugin", package: "purgefs")]),
        // The other way, without the plugin.
        .executableTarget(name: "ByImport", dependencies: [.product(name: "ContainerStorage", package: "purgefs")]),
    ],
    swiftLanguageModes: [.v6]
)
