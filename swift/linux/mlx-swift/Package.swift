// swift-tools-version: 6.0
import Foundation
import PackageDescription

// libmlx and its headers come from the PyPI wheel, unpacked by src/setup into build/mlx at the project's root;
// RMX_MLX_WHEEL=<folder> names another unpacked wheel (mlx-cuda-12 or -13 have the same headers).
let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
let wheel = ProcessInfo.processInfo.environment["RMX_MLX_WHEEL"] ?? root.appendingPathComponent("build/mlx").path

let package = Package(
    name: "mlx-swift",
    products: [
        .library(name: "MLX", targets: ["MLX"]),
        .library(name: "MLXCPU", targets: ["MLXCPU"]),
    ],
    targets: [
        .target(
            name: "CMLX",
            cxxSettings: [.unsafeFlags(["-std=c++20", "-isystem", "\(wheel)/mlx/include", "-O3"])],
            linkerSettings: [
                .unsafeFlags(["-L\(wheel)/mlx/lib", "-Xlinker", "-rpath", "-Xlinker", "\(wheel)/mlx/lib"]),
                .linkedLibrary("mlx"),
            ]),
        .target(name: "MLX", dependencies: ["CMLX"]),
        .target(name: "MLXCPU", dependencies: ["CMLX", "MLX"]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx20
)
