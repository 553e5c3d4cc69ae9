// swift-tools-version: 6.0
import PackageDescription

// Tests of an app with ContainerTesting, as a separate package that depends on purgefs. `make app-tests` runs them.
let package = Package(
    name: "AppTests",
    dependencies: [.package(name: "purgefs", path: "../..")],
    targets: [
        .target(name: "Album"),
        .testTarget(
            name: "AlbumTests", dependencies: ["Album", .product(name: "ContainerTesting", package: "purgefs")]),
        // These tests fail on purpose when the variable FAILING is set.
        .testTarget(name: "FailingTests", dependencies: [.product(name: "ContainerTesting", package: "purgefs")]),
        .testTarget(name: "HarnessTests", dependencies: [.product(name: "ContainerTesting", package: "purgefs")]),
    ],
    swiftLanguageModes: [.v6]
)
