// swift-tools-version: 6.0
import Foundation
import PackageDescription

// Which MLX: on macOS the real mlx-swift; elsewhere our own package with the same API over the libmlx of the PyPI wheel
// (docs/design/0006). RMX_MLX_SWIFT=<folder> points either at a checkout of the real one; the folder must be named
// mlx-swift, because SwiftPM takes a package's identity from it.
let environment = ProcessInfo.processInfo.environment
let mlxSwift: Package.Dependency
if let checkout = environment["RMX_MLX_SWIFT"] {
    guard checkout.split(separator: "/").last == "mlx-swift" else {
        fatalError("RMX_MLX_SWIFT must name a folder called mlx-swift, found \(checkout)")
    }
    mlxSwift = .package(path: checkout)
} else {
    #if os(macOS)
    mlxSwift = .package(url: "https://github.com/ml-explore/mlx-swift", exact: "0.31.3")
    #else
    mlxSwift = .package(path: "swift/linux/mlx-swift")
    #endif
}
let mlx: Target.Dependency = .product(name: "MLX", package: "mlx-swift")

// Our CPU primitives without a counterpart in mlx-swift; kernel folders use them behind `#if canImport(MLXCPU)`.
var kernelDependencies: [Target.Dependency] = [mlx]
#if !os(macOS)
if environment["RMX_MLX_SWIFT"] == nil {
    kernelDependencies.append(.product(name: "MLXCPU", package: "mlx-swift"))
}
#endif

// swift-argument-parser serves rmx-core where it can be reached; elsewhere a plain main.swift reads the same flags.
var dependencies = [mlxSwift]
var coreDependencies: [Target.Dependency] = ["CoreCommands"]
#if os(macOS)
let argumentParser = true
#else
let argumentParser = environment["RMX_ARGUMENT_PARSER"] == "1"
#endif
if argumentParser {
    dependencies.append(.package(url: "https://github.com/apple/swift-argument-parser", exact: "1.5.0"))
    coreDependencies.append(.product(name: "ArgumentParser", package: "swift-argument-parser"))
}

let strict: [SwiftSetting] = [.unsafeFlags(["-warnings-as-errors"])]

func layer(_ name: String, _ dependencies: [Target.Dependency], linker: [LinkerSetting] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "swift/\(name)", exclude: readmes(of: name), swiftSettings: strict,
        linkerSettings: linker)
}

func suite(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: "swift/Tests/\(name)", swiftSettings: strict)
}

/// READMEs live beside the code they explain; SwiftPM wants them named.
func readmes(of name: String) -> [String] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("swift/\(name)")
    let files = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    return files.filter { $0.hasSuffix(".md") }
}

// How librmx is linked, in release builds only: test bundles are debug builds and keep the shared Swift runtime.
// Linux: Swift's runtime goes in (FoundationEssentials does not name the libraries it needs), only rmx_* comes out,
// nothing may stay undefined, and a library that was opened once stays mapped (nodelete), because its threads and
// thread-locals outlive a dlclose. macOS: the runtime is the system's, and images stay mapped anyway.
let abi = "\(Context.packageDirectory)/swift/CABI"
let library: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-l_FoundationCollections", "-l_FoundationCShims",
            "-Xlinker", "--version-script=\(abi)/rmx.version", "-Xlinker", "-z", "-Xlinker", "nodelete",
            "-Xlinker", "-z", "-Xlinker", "defs", "-Xlinker", "-s",
        ],
        .when(platforms: [.linux], configuration: .release)),
    .unsafeFlags(
        ["-Xlinker", "-exported_symbols_list", "-Xlinker", "\(abi)/rmx.exports"],
        .when(platforms: [.macOS], configuration: .release)),
]

let package = Package(
    name: "rapid-mlx",
    platforms: [.macOS(.v14)],
    products: [
        .library(name: "rmx", type: .dynamic, targets: ["Bridge"]),
        .executable(name: "rmx-core", targets: ["rmx-core"]),
    ],
    dependencies: dependencies,
    targets: [
        .target(name: "CABI", path: "swift/CABI", exclude: ["rmx.exports", "rmx.version"]),
        layer("Engine", []),
        layer("Kernels", kernelDependencies),
        layer("Layers", ["Kernels", mlx]),
        layer("Models", ["Layers", "Kernels", mlx]),
        layer("Runtime", ["Engine", "Models", "Layers", "Kernels", mlx]),
        layer("CoreCommands", ["Engine", "Runtime", "Kernels", mlx]),
        layer("Bridge", ["CABI", "Engine", "Runtime", "CoreCommands"], linker: library),
        .executableTarget(
            name: "rmx-core", dependencies: coreDependencies, path: "swift/rmx-core", swiftSettings: strict),
        suite("EngineTests", ["Engine"]),
        suite("KernelsTests", ["Kernels", mlx]),
        suite("RuntimeTests", ["Runtime", "Models", "Layers", "Engine", mlx]),
        suite("BridgeTests", ["Bridge", "CABI", "CoreCommands", "Engine", "Kernels"]),
    ],
    swiftLanguageModes: [.v6]
)
