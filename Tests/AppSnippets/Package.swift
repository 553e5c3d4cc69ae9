// swift-tools-version: 6.0
import PackageDescription

// Apps written as for iOS, in a separate package that depends on this one. `make snippets` builds and runs them.
let storage: Target.Dependency = .product(name: "ContainerStorage", package: "purgefs")
let plugin: Target.PluginUsage = .plugin(name: "ContainerStoragePlugin", package: "purgefs")
let package = Package(
    name: "AppSnippets",
    dependencies: [.package(name: "purgefs", path: "../..")],
    targets: [
        // The files of this target import only Foundation.
        .executableTarget(name: "AppSnippets", dependencies: [storage], plugins: [plugin]),
        // This target imports the library instead of using the plugin.
        .executableTarget(
            name: "ByImport", dependencies: [storage],
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),
        // A library with a public interface, in Swift 6 mode with strict imports, and programs that use it: one with the
        // plugin, in Swift 5 mode, and one without the plugin.
        .target(
            name: "Library", dependencies: [storage],
            swiftSettings: [
                .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
            ],
            plugins: [plugin]),
        .executableTarget(
            name: "PluginClient", dependencies: [storage, "Library"], swiftSettings: [.swiftLanguageMode(.v5)],
            plugins: [plugin]),
        .executableTarget(name: "LibraryClient", dependencies: ["Library"]),
        // It only has to compile: a program in one file that is not named main.swift.
        .executableTarget(name: "OneFile", dependencies: [storage], plugins: [plugin]),
        // It only has to compile: with types named as Foundation's, and on the main actor by default.
        .target(
            name: "OwnNames", dependencies: [storage],
            swiftSettings: [.unsafeFlags(["-default-isolation", "MainActor"])], plugins: [plugin]),
    ],
    swiftLanguageModes: [.v6]
)
