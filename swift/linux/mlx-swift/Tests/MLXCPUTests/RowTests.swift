import MLX
import Testing

@testable import MLXCPU

// Row-wise kernels against float64: RMS norm and rotary embedding.
#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif

extension CPUSuite {
    @Suite struct RowTests {
        @Test(arguments: [1, 7, 16, 64, 576, 1000])
        func rmsNormMatchesFloat64(_ width: Int) throws {
            var seed = Seeded(UInt64(width))
            let (x, weight) = (seed.normal([5, width]), seed.normal([width]))
            let (xs, ws) = (doubles(x), doubles(weight))
            try withEveryVariant { variant, _ in
                let y = doubles(MLXFast.rmsNorm(x, weight: weight, eps: 1e-5))
                for r in 0..<5 {
                    let row = xs[(r * width)..<((r + 1) * width)]
                    let factor = 1 / (row.reduce(0) { $0 + $1 * $1 } / Double(width) + 1e-5).squareRoot()
                    for (i, value) in row.enumerated() {
                        let wanted = value * factor * ws[i]
                        #expect(abs(y[r * width + i] - wanted) <= 1e-6 * abs(wanted) + 1e-12, "\(variant)")
                    }
                }
            }
        }

        @Test func rmsNormTakesHalvesAndNoWeight() throws {
            var seed = Seeded(11)
            let x = seed.normal([3, 96])
            try withEveryVariant { variant, _ in
                let plain = MLXFast.rmsNorm(x, weight: .mlxNone, eps: 1e-6)
                let half = MLXFast.rmsNorm(x.asType(.float16), weight: .ones([96], dtype: .float16), eps: 1e-6)
                #expect(half.dtype == .float16)
                #expect(abs(half.asType(.float32) - plain).max().item(Float.self) < 4e-3, "\(variant)")
            }
        }

        @Test(arguments: [0, 1, 500, 8191, 100_000], [false, true])
        func rotaryEmbeddingMatchesFloat64(_ position: Int, _ traditional: Bool) throws {
            var seed = Seeded(UInt64(position))
            let (dims, width) = (48, 64)
            let x = seed.normal([1, 2, 3, width])
            let xs = doubles(x)
            try withEveryVariant { variant, _ in
                let y = doubles(
                    MLXFast.RoPE(
                        x, dimensions: dims, traditional: traditional, base: 10_000, scale: 0.5, offset: position))
                for row in 0..<6 {
                    for i in 0..<(dims / 2) {
                        // The angle is float32's: that is what MLX and the models' own code take.
                        let period = Float(pow(10_000, -Double(i) / Double(dims / 2)))
                        let angle = Double(Float(position + row % 3) * 0.5 * period)
                        let (first, second) = traditional ? (2 * i, 2 * i + 1) : (i, i + dims / 2)
                        let (a, b) = (xs[row * width + first], xs[row * width + second])
                        let allowed = 1e-6 + Double(position) * 2e-7
                        #expect(
                            abs(y[row * width + first] - (a * cos(angle) - b * sin(angle))) < allowed * 4, "\(variant)")
                        #expect(
                            abs(y[row * width + second] - (a * sin(angle) + b * cos(angle))) < allowed * 4, "\(variant)"
                        )
                    }
                    #expect(
                        Array(y[(row * width + dims)..<((row + 1) * width)])
                            == Array(xs[(row * width + dims)..<((row + 1) * width)]))
                }
            }
        }

        @Test func rotationByAnOffsetOfEachRowEqualsRotationOneByOne() throws {
            var seed = Seeded(5)
            let x = seed.normal([4, 3, 1, 64])
            let periods = MLXArray((0..<32).map { Float(1 + $0 * 7) })
            let positions: [Int32] = [0, 9, 3, 4000]
            try withEveryVariant { variant, _ in
                let together = MLXFast.RoPE(
                    x, dimensions: 64, traditional: false, base: nil, scale: 1, offset: MLXArray(positions),
                    freqs: periods)
                for (row, position) in positions.enumerated() {
                    let alone = MLXFast.RoPE(
                        x[row..<(row + 1)], dimensions: 64, traditional: false, base: nil, scale: 1,
                        offset: Int(position), freqs: periods)
                    #expect(bits(alone) == bits(together[row..<(row + 1)]), "\(variant), row \(row)")
                }
            }
        }
    }
}
