/// Checks of the MLX ops that the graphs stand on: each against the same formula in plainer ops or scalar loops, and a
/// call with many rows against calls with one.
///
/// Shapes are those of a small model. What a difference may be is stated for float32 sums of some hundred terms; a
/// broken kernel is off by orders of magnitude. Inputs are numbers from a fixed sequence, so every run is the same.

import Kernels
import MLX

/// The list.
public enum OpChecks {
    /// In the order of a layer.
    public static let all: [KernelCheck] = [
        KernelCheck("dequantized", layouts.map { unpacking(bits: $0.bits, group: $0.group) }),
        KernelCheck("quantizedMM", products, deep: deepProducts),
        KernelCheck("matmul", [matrixProduct]),
        KernelCheck("rmsNorm", [norm(rows: 1), norm(rows: 7)]),
        KernelCheck("RoPE", [rotation(traditional: false), rotation(traditional: true)]),
        KernelCheck(
            "scaledDotProductAttention", [attention(queries: 1, keys: 65), attention(queries: 5, keys: 37)],
            deep: [attention(queries: 1, keys: 2049), attention(queries: 128, keys: 640)]),
        KernelCheck(
            "rows quantizedMM", [productRows(2), productRows(3), productRows(8), productRows(16)],
            deep: [productRows(64), productRows(512)]),
        KernelCheck("rows rmsNorm", [normRows(16)], deep: [normRows(512)]),
        KernelCheck("rows attention", [attentionRows(2), attentionRows(5)], deep: [attentionRows(64)]),
    ]

    /// Every width that MLX packs, with one of its group sizes.
    private static let layouts: [(bits: Int, group: Int)] = [
        (2, 32), (3, 64), (4, 32), (4, 64), (5, 64), (6, 64), (8, 32), (8, 128),
    ]
    private static let products: [KernelCase] = [
        product(bits: 4, group: 32, rows: 5, .float32), product(bits: 4, group: 64, rows: 5, .float32),
        product(bits: 8, group: 64, rows: 5, .float32), product(bits: 4, group: 64, rows: 1, .bfloat16),
        product(bits: 4, group: 64, rows: 1, .float16),
    ]
    private static let deepProducts: [KernelCase] = [
        product(bits: 2, group: 64, rows: 33, .float32), product(bits: 3, group: 32, rows: 33, .float32),
        product(bits: 5, group: 64, rows: 33, .float32), product(bits: 6, group: 128, rows: 33, .float32),
        product(bits: 8, group: 128, rows: 33, .float32),
    ]

    /// What a row may differ from itself in a call with others: nothing, where the kernels are ours. Elsewhere the
    /// engine measures it at load and reports it as `exactness`; here it must only be a rounding.
    private static let rowTolerance: Float = Processor.variant == nil ? 1e-3 : 0

    // MARK: - Against references

    /// Codes unpacked bit by bit: a group's value is scale * code + bias, codes are little-endian in 32-bit words.
    private static func unpacking(bits: Int, group: Int) -> KernelCase {
        KernelCase("\(bits)-bit g\(group) [8, 256]") {
            try compared(allowed: 1e-6) {
                let packed = quantized(numbers([8, 256]), groupSize: group, bits: bits)
                guard let biases = packed.biases else { throw CheckFailure(message: "quantized gave no biases") }
                let words = packed.wq.asArray(UInt32.self)
                let scale = packed.scales.asArray(Float.self)
                let bias = biases.asArray(Float.self)
                var values: [Float] = []
                for i in 0..<8 * 256 {
                    var code = 0
                    for bit in 0..<bits {
                        let at = i * bits + bit
                        code |= Int(words[at / 32] >> UInt32(at % 32) & 1) << bit
                    }
                    values.append(scale[i / group] * Float(code) + bias[i / group])
                }
                let unpacked = dequantized(
                    packed.wq, scales: packed.scales, biases: biases, groupSize: group, bits: bits)
                return (unpacked, MLXArray(values, [8, 256]))
            }
        }
    }

    /// x · Wᵀ with packed W, against the same with W unpacked. Sums of 512 products of numbers up to 1.
    private static func product(bits: Int, group: Int, rows: Int, _ type: DType) -> KernelCase {
        KernelCase("\(bits)-bit g\(group), \(type) [\(rows), 512] x [256, 512]") {
            // float16 has 11 bits and bfloat16 8: of sums up to 20 that leaves 0.01 and 0.1, for input and result.
            let allowed: Float = type == .float32 ? 1e-4 : type == .float16 ? 0.04 : 0.4
            return try compared(allowed: allowed) {
                let weight = PackedMatrix(rows: 256, columns: 512, bits: bits, group: group, type)
                let x = numbers([rows, 512]).asType(type)
                return (weight.product(x), matmul(x.asType(.float32), weight.unpacked.asType(.float32).T))
            }
        }
    }

    private static let matrixProduct = KernelCase("[7, 96] x [96, 65] against loops") {
        try compared(allowed: 1e-5) {
            let (a, b) = (numbers([7, 96]), numbers([96, 65], seed: 2))
            let (left, right) = (a.asArray(Float.self), b.asArray(Float.self))
            var sums: [Float] = []
            for i in 0..<7 * 65 {
                let (row, column) = (i / 65, i % 65)
                var sum = 0.0
                for k in 0..<96 { sum += Double(left[row * 96 + k]) * Double(right[k * 65 + column]) }
                sums.append(Float(sum))
            }
            return (matmul(a, b), MLXArray(sums, [7, 65]))
        }
    }

    private static func norm(rows: Int) -> KernelCase {
        KernelCase("[\(rows), 576]") {
            try compared(allowed: 1e-5) {
                let (x, weight) = (numbers([rows, 576]), numbers([576], seed: 2))
                let squares: MLXArray = (x * x).mean(axis: -1, keepDims: true)
                let factor: MLXArray = rsqrt(squares + MLXArray(Float(1e-5)))
                return (MLXFast.rmsNorm(x, weight: weight, eps: 1e-5), x * factor * weight)
            }
        }
    }

    /// Pairs (i, i + 32), or (2i, 2i + 1) if traditional, turned by position * 10000^(-i / 32).
    private static func rotation(traditional: Bool) -> KernelCase {
        KernelCase("\(traditional ? "neighbours" : "halves") [3, 2, 1, 64] at positions 0, 5, 1000") {
            // At position 1000 the angle itself is rounded to 6e-5.
            try compared(allowed: 5e-4) {
                let x = numbers([3, 2, 1, 64])
                let positions = MLXArray([0, 5, 1000] as [Int32])
                let turned = MLXFast.RoPE(
                    x, dimensions: 64, traditional: traditional, base: 10_000, scale: 1, offset: positions)
                let periods: MLXArray = exp(MLXArray((0..<32).map { -9.210_340_4 * Float($0) / 32 }))  // ln 10000
                let steps: MLXArray = positions.asType(.float32).reshaped(3, 1, 1, 1)
                let angles: MLXArray = steps * periods.reshaped(1, 1, 1, 32)
                // Neighbours are turned like halves after the pairs' parts have been put together.
                let halves = traditional ? x.reshaped(3, 2, 32, 2).transposed(0, 1, 3, 2).reshaped(3, 2, 1, 64) : x
                let (first, second) = (halves[0..., 0..., 0..., 0..<32], halves[0..., 0..., 0..., 32..<64])
                let (cosines, sines): (MLXArray, MLXArray) = (cos(angles), sin(angles))
                let plain = concatenated(
                    [first * cosines - second * sines, first * sines + second * cosines], axis: 3)
                let back = plain.reshaped(3, 2, 2, 32).transposed(0, 1, 3, 2).reshaped(3, 2, 1, 64)
                return (turned, traditional ? back : plain)
            }
        }
    }

    /// softmax(q · kᵀ / 8, causal) · v for 9 heads on 3 key heads of 64.
    private static func attention(queries: Int, keys: Int) -> KernelCase {
        KernelCase("\(queries) rows on \(keys) keys, 9 heads on 3 of 64") {
            try compared(allowed: 1e-5) {
                let input = AttentionInput(queries: queries, keys: keys)
                return (input.attended(from: 0, to: queries), input.attendedPlainly())
            }
        }
    }

    // MARK: - Rows against themselves

    private static func productRows(_ rows: Int) -> KernelCase {
        KernelCase("\(rows) rows of 4-bit g64 [\(rows), 576] x [640, 576]") {
            try compared(allowed: rowTolerance) {
                let weight = PackedMatrix(rows: 640, columns: 576, bits: 4, group: 64, .float32)
                let x = numbers([rows, 576])
                let alone = (0..<rows).map { weight.product(x[$0..<$0 + 1]) }
                return (weight.product(x), concatenated(alone, axis: 0))
            }
        }
    }

    private static func normRows(_ rows: Int) -> KernelCase {
        KernelCase("\(rows) rows of 576") {
            try compared(allowed: rowTolerance) {
                let (x, weight) = (numbers([rows, 576]), numbers([576], seed: 2))
                let alone = (0..<rows).map { MLXFast.rmsNorm(x[$0..<$0 + 1], weight: weight, eps: 1e-5) }
                return (MLXFast.rmsNorm(x, weight: weight, eps: 1e-5), concatenated(alone, axis: 0))
            }
        }
    }

    private static func attentionRows(_ rows: Int) -> KernelCase {
        KernelCase("\(rows) rows on \(rows + 70) keys") {
            try compared(allowed: rowTolerance) {
                let input = AttentionInput(queries: rows, keys: rows + 70)
                let alone = (0..<rows).map { input.attended(from: $0, to: $0 + 1) }
                return (input.attended(from: 0, to: rows), concatenated(alone, axis: 2))
            }
        }
    }
}
