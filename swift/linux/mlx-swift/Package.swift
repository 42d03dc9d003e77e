// swift-tools-version: 6.0
import Foundation
import PackageDescription

// libmlx and its headers come from the PyPI wheel, unpacked by src/setup into build/mlx at the project's root;
// RMX_MLX_WHEEL=<folder> names another unpacked wheel (mlx-cuda-12 or -13 have the same headers).
let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
let environment = ProcessInfo.processInfo.environment
let wheel = environment["RMX_MLX_WHEEL"] ?? root.appendingPathComponent("build/mlx").path
// Where the linked file looks for libmlx at run time. The released library gets a path relative to itself from
// src/setup.
let runPath = environment["RMX_RUN_PATH"] ?? "\(wheel)/mlx/lib"

let kernels = "\(Context.packageDirectory)/Sources/CMLX/cpu"

let strict: [SwiftSetting] = [.unsafeFlags(["-warnings-as-errors"])]

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
                .unsafeFlags(["-L\(wheel)/mlx/lib", "-Xlinker", "-rpath", "-Xlinker", runPath]),
                .linkedLibrary("mlx"),
            ]),
        .target(name: "MLX", dependencies: ["CMLX"], swiftSettings: strict),
        .target(name: "MLXCPU", dependencies: ["CMLX", "MLX"], swiftSettings: strict),
        // Random cases over the kernels, in C++ because the float64 references take their time.
        .target(
            name: "KernelCases", dependencies: ["CMLX"], path: "Tests/KernelCases", exclude: ["main.cpp"],
            cxxSettings: [
                .unsafeFlags(["-std=c++20", "-isystem", "\(wheel)/mlx/include", "-I\(kernels)", "-O2"])
            ]),
        .testTarget(name: "MLXCPUTests", dependencies: ["MLX", "MLXCPU", "KernelCases"], swiftSettings: strict),
        .testTarget(name: "MLXTests", dependencies: ["MLX"], exclude: ["golden"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx20
)
