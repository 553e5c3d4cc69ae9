// swift-tools-version: 6.0
import PackageDescription

let strict: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let package = Package(
    name: "purgefs",
    products: [
        .executable(name: "purgefs", targets: ["purgefs"]),
        .library(name: "ContainerStorage", targets: ["ContainerStorage", "ContainerValues"]),
        .plugin(name: "ContainerStoragePlugin", targets: ["ContainerStoragePlugin"]),
        .library(name: "ContainerTesting", targets: ["ContainerTesting", "ContainerXCTest"]),
    ],
    targets: [
        .systemLibrary(
            name: "CFuse", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev", "pkg-config"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CArchive", linkerSettings: [.linkedLibrary("z")]),
        .target(name: "CSystemShims"),
        .target(name: "CFuseShims", dependencies: ["CFuse"]),

        .target(name: "PurgeModel", swiftSettings: strict),
        .target(name: "PurgeTree", dependencies: ["PurgeModel"], swiftSettings: strict),
        .target(name: "PurgeSystem", dependencies: ["CSystemShims"], swiftSettings: strict),
        .target(
            name: "PurgeStore", dependencies: ["PurgeModel", "PurgeSystem", "CSQLite"],
            swiftSettings: strict),
        .target(
            name: "PurgeVolume", dependencies: ["PurgeStore", "PurgeSystem", "PurgeTree", "PurgeModel"],
            swiftSettings: strict),
        .target(
            name: "PurgeFUSE",
            dependencies: [
                "PurgeVolume", "PurgeStore", "PurgeSystem", "PurgeTree", "PurgeModel", "CFuse", "CFuseShims",
            ],
            swiftSettings: strict),
        .target(
            name: "PurgeCommandLine", dependencies: ["PurgeStore", "PurgeSystem", "PurgeModel"], swiftSettings: strict),
        .target(
            name: "PurgeContainers",
            dependencies: ["PurgeVolume", "PurgeCommandLine", "PurgeStore", "PurgeSystem", "PurgeModel"],
            swiftSettings: strict),
        .target(
            name: "PurgeBackup",
            dependencies: [
                "PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeSystem", "PurgeModel", "CArchive",
            ],
            swiftSettings: strict),
        .target(
            name: "PurgeWhy",
            dependencies: ["PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeSystem", "PurgeModel"],
            swiftSettings: strict),
        .target(
            name: "PurgeCleaning",
            dependencies: ["PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeSystem", "PurgeModel"],
            swiftSettings: strict),
        .target(
            name: "PurgeDiagnosis",
            dependencies: [
                "PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeSystem", "PurgeModel", "CSQLite",
            ],
            swiftSettings: strict),
        .target(
            name: "PurgeReport",
            dependencies: ["PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeSystem", "PurgeModel"],
            swiftSettings: strict),
        .target(
            name: "PurgeCommands",
            dependencies: [
                "PurgeFUSE", "PurgeReport", "PurgeWhy", "PurgeDiagnosis", "PurgeCleaning", "PurgeBackup", "PurgeVolume",
                "PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeSystem", "PurgeModel",
            ],
            swiftSettings: strict),
        .executableTarget(name: "purgefs", dependencies: ["PurgeCommands"], swiftSettings: strict),

        .target(name: "CContainerCalls"),
        .target(name: "ContainerValues", dependencies: ["CContainerCalls"], swiftSettings: strict),
        .target(name: "ContainerStorage", dependencies: ["ContainerValues"], swiftSettings: strict),
        .plugin(
            name: "ContainerStoragePlugin", capability: .buildTool(), path: "Sources/ContainerStoragePlugin"),

        .target(name: "ContainerTesting", dependencies: ["CContainerCalls"], swiftSettings: strict),
        .target(name: "ContainerXCTest", dependencies: ["ContainerTesting"], swiftSettings: strict),

        .target(
            name: "Support", dependencies: ["PurgeSystem", "CContainerCalls"], path: "Tests/Support",
            swiftSettings: strict),
        // A program with one thread, because a test process has several.
        .executableTarget(
            name: "ForkProbe", dependencies: ["PurgeSystem"], path: "Tests/ForkProbe", swiftSettings: strict),
        .testTarget(name: "SupportTests", dependencies: ["Support"], swiftSettings: strict),
        .testTarget(
            name: "ContainerTestingTests", dependencies: ["ContainerTesting", "PurgeModel"], swiftSettings: strict),
        .testTarget(
            name: "PurgeSystemTests", dependencies: ["PurgeSystem", "Support", "ForkProbe"], swiftSettings: strict),
        .testTarget(name: "PurgeModelTests", dependencies: ["PurgeModel", "Support"], swiftSettings: strict),
        .testTarget(
            name: "PurgeTreeTests", dependencies: ["PurgeTree", "PurgeModel", "PurgeSystem", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "PurgeStoreTests", dependencies: ["PurgeStore", "PurgeModel", "PurgeSystem", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "PurgeVolumeTests",
            dependencies: ["PurgeVolume", "PurgeStore", "PurgeTree", "PurgeModel", "PurgeSystem", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "PurgeBackupTests",
            dependencies: ["PurgeBackup", "PurgeStore", "PurgeModel", "PurgeSystem", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "PurgeWhyTests",
            dependencies: [
                "PurgeWhy", "PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeModel", "PurgeSystem", "Support",
            ],
            exclude: ["Answers"],
            swiftSettings: strict),
        .testTarget(
            name: "PurgeCleaningTests",
            dependencies: [
                "PurgeCleaning", "PurgeContainers", "PurgeCommandLine", "PurgeModel", "PurgeSystem", "Support",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PurgeDiagnosisTests",
            dependencies: [
                "PurgeDiagnosis", "PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeModel", "PurgeSystem",
                "Support",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PurgeReportTests",
            dependencies: [
                "PurgeReport", "PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeModel", "PurgeSystem",
                "Support",
            ],
            exclude: ["Report"],
            swiftSettings: strict),
        .testTarget(
            name: "PurgeCommandsTests",
            dependencies: [
                "PurgeCommands", "PurgeContainers", "PurgeCommandLine", "PurgeStore", "PurgeModel", "PurgeSystem",
                "PurgeVolume",
                "Support",
            ],
            exclude: ["Help"],
            swiftSettings: strict),
        .testTarget(
            name: "PurgeFUSETests", dependencies: ["PurgeFUSE", "PurgeVolume", "PurgeSystem", "PurgeTree", "Support"],
            swiftSettings: strict),
        .testTarget(
            name: "MountTests", dependencies: ["Support", "PurgeSystem", "purgefs"], exclude: ["Programs", "Messages"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
