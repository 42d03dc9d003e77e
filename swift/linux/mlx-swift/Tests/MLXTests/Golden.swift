// The goldens of golden/README.md, and the comparison with them.
import Foundation
import MLX
import Testing

/// The arrays of golden.safetensors.
struct Golden {
    private let arrays: [String: MLXArray]

    /// Reads the file anew: tests run at the same time, and arrays aren't shared between threads.
    init() throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("golden/golden.safetensors")
        arrays = try loadArrays(url: url)
        try checkedEval(Array(arrays.values))
    }

    /// An input.
    subscript(_ input: String) -> MLXArray {
        get throws { try #require(arrays["in.\(input)"], "no input \(input)") }
    }

    /// Expects the result of a case: its shape, its dtype, and its values, which may differ by `tolerance` relative to
    /// the largest one.
    func expect(
        _ name: String, _ result: MLXArray, within tolerance: Double = 0, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let wanted = try #require(arrays[name], "no golden \(name)", sourceLocation: location)
        #expect(result.shape == wanted.shape, "\(name)", sourceLocation: location)
        #expect(result.dtype == wanted.dtype, "\(name)", sourceLocation: location)
        guard result.shape == wanted.shape, result.dtype == wanted.dtype else { return }
        if tolerance == 0 {
            let equal = arrayEqual(result, wanted, equalNAN: true).item(Bool.self)
            #expect(equal, "\(name): \(result) is not \(wanted)", sourceLocation: location)
            return
        }
        let difference = abs(result.asType(.float32) - wanted.asType(.float32)).max().item(Float.self)
        let largest = abs(wanted.asType(.float32)).max().item(Float.self)
        #expect(
            Double(difference) <= tolerance * Double(largest), "\(name) differs by \(difference) at most of \(largest)",
            sourceLocation: location)
    }
}

/// Runs a test's body; an error of MLX fails the test.
func withGolden(_ body: (Golden) throws -> Void) throws {
    let golden = try Golden()
    try withError { try body(golden) }
}
