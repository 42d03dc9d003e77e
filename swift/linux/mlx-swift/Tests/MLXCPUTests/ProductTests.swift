// Products with weights: within the bound of cpu/README.md of a float64 reference, equal to MLX's own op within
// rounding, and the bits of a row the same whatever else is in the call.
import MLX
import Testing

@testable import MLXCPU

/// One weight with its activations.
private struct Case: CustomStringConvertible {
    let rows: Int
    let outputs: Int
    let columns: Int
    let bits: Int
    let group: Int
    let scaleType: DType
    let valueType: DType

    var description: String { "\(rows)x\(columns) by \(outputs), \(bits) bits g\(group), \(scaleType), \(valueType)" }

    init(_ seed: inout Seeded) {
        group = seed.pick([32, 64, 128])
        bits = seed.pick([2, 3, 4, 5, 6, 8])
        // SmolLM2's widths, and odd numbers of groups.
        columns = seed.pick([576, 1536, group * seed.int(1...11)]) / group * group
        outputs = seed.pick([192, seed.int(1...70)])
        rows = seed.pick([1, 2, 3, 4, 5, 7, 8, 13, 16, 33, 64])
        scaleType = seed.pick([.float16, .bfloat16, .float32])
        valueType = seed.pick([.float32, .float32, .float16, .bfloat16])
    }
}

/// A quantized weight and rows for it.
private struct Operands {
    let x: MLXArray
    let codes: MLXArray
    let scales: MLXArray
    let biases: MLXArray
    let item: Case

    init(_ item: Case, _ seed: inout Seeded) {
        self.item = item
        x = seed.normal([item.rows, item.columns]).asType(item.valueType)
        let weight = seed.normal([item.outputs, item.columns]).asType(item.scaleType)
        let packed = quantized(weight, groupSize: item.group, bits: item.bits)
        codes = packed.wq
        scales = packed.scales
        biases = packed.biases ?? .mlxNone
        eval(x, codes, scales, biases)
    }

    func product(_ x: MLXArray) -> MLXArray {
        quantizedMM(x, codes, scales: scales, biases: biases, transpose: true, groupSize: item.group, bits: item.bits)
    }

    /// MLX's own op: weights with a batch axis are left to it.
    func libraryProduct(_ x: MLXArray) -> MLXArray {
        quantizedMM(
            x.expandedDimensions(axis: 0), codes.expandedDimensions(axis: 0),
            scales: scales.expandedDimensions(axis: 0),
            biases: biases.expandedDimensions(axis: 0), transpose: true, groupSize: item.group, bits: item.bits)[0]
    }

    /// Roundings that a term passes, as cpu/README.md counts them.
    func roundings(_ variant: String) -> Double {
        let lanes = variant == "avx512" ? 16 : 8
        let perLane = [2: 16, 4: 8][item.bits] ?? 4
        let blocks = (item.columns + perLane * lanes - 1) / (perLane * lanes)
        return Double(perLane + blocks + item.columns / item.group / lanes + 5 + 7)
    }

    /// Largest error of `y` over the sum of magnitudes that the README's bounds speak of.
    func relativeError(_ y: MLXArray) -> Double {
        let dequantizedWeight = dequantized(
            codes, scales: scales.asType(.float32), biases: biases.asType(.float32), groupSize: item.group,
            bits: item.bits)
        let (w, xs, ys) = (doubles(dequantizedWeight), doubles(x), doubles(y))
        let (s, b) = (doubles(scales), doubles(biases))
        let groups = item.columns / item.group
        let top = Double((1 << item.bits) - 1)
        var worst = 0.0
        // Some elements, from all over.
        for element in stride(from: 0, to: item.rows * item.outputs, by: max(1, item.rows * item.outputs / 50)) {
            let (m, n) = (element / item.outputs, element % item.outputs)
            var (sum, magnitude) = (0.0, 1e-30)
            for k in 0..<item.columns {
                let (xk, group) = (xs[m * item.columns + k], n * groups + k / item.group)
                sum += w[n * item.columns + k] * xk
                magnitude += abs(xk) * (abs(s[group]) * top + abs(b[group]))
            }
            worst = max(worst, abs(ys[element] - sum) / magnitude)
        }
        return worst
    }
}

extension CPUSuite {
    @Suite struct ProductTests {
        @Test(arguments: 0..<40)
        func quantizedProductsKeepTheirErrorBound(_ number: Int) throws {
            var seed = Seeded(UInt64(number) &* 7919 &+ 1)
            let operands = Operands(Case(&seed), &seed)
            try withEveryVariant { variant, fast in
                let y = operands.product(operands.x)
                // Fast: half a step of 1/127 of a group's peak, which is at most four times its mean here. A result
                // in a half type is rounded once more.
                let rounding = y.dtype == .float32 ? 0 : y.dtype == .float16 ? 0x1p-11 : 0x1p-8
                let bound = (fast ? 1.6e-2 : operands.roundings(variant) * 0x1p-24) + rounding
                let error = operands.relativeError(y)
                #expect(error < bound, "\(variant), fast \(fast), \(operands.item): \(error)")
            }
        }

        @Test(arguments: 0..<20)
        func quantizedProductsEqualTheLibrarysWithinRounding(_ number: Int) throws {
            var seed = Seeded(UInt64(number) &+ 500)
            let operands = Operands(Case(&seed), &seed)
            // In half types MLX's op also sums in them, so it is compared in float32.
            let x = operands.x.asType(.float32)
            let library = operands.libraryProduct(x)
            let size = abs(library).max().item(Float.self) + 1e-6
            try withEveryVariant { variant, fast in
                let difference = abs(operands.product(x) - library).max().item(Float.self)
                #expect(difference <= (fast ? 3e-2 : 1e-5) * size, "\(variant), fast \(fast), \(operands.item)")
            }
        }

        @Test(arguments: 0..<60)
        func aRowsBitsDependOnTheRowAlone(_ number: Int) throws {
            var seed = Seeded(UInt64(number) &+ 9000)
            let operands = Operands(Case(&seed), &seed)
            let rows = operands.item.rows
            let cut = seed.int(0...rows)
            try withEveryVariant { variant, fast in
                let whole = try withThreads(1) { bits(operands.product(operands.x)) }
                for threads in [2, 3, 4] {
                    let again = try withThreads(threads) { bits(operands.product(operands.x)) }
                    #expect(again == whole, "\(variant), fast \(fast), \(threads) threads, \(operands.item)")
                }
                let parts = [0..<cut, cut..<rows].filter { !$0.isEmpty }.flatMap {
                    bits(operands.product(operands.x[$0]))
                }
                #expect(parts == whole, "\(variant), fast \(fast), cut at \(cut), \(operands.item)")
                let alone = (0..<rows).flatMap { bits(operands.product(operands.x[$0..<($0 + 1)])) }
                #expect(alone == whole, "\(variant), fast \(fast), row by row, \(operands.item)")
            }
        }

        @Test func manyRowsEqualFewRows() throws {
            var seed = Seeded(77)
            let weight = quantized(seed.normal([96, 576]), groupSize: 32, bits: 4)
            let x = seed.normal([512, 576])
            let biases = try #require(weight.biases)
            try withEveryVariant { variant, fast in
                func product(_ x: MLXArray) -> [UInt32] {
                    bits(quantizedMM(x, weight.wq, scales: weight.scales, biases: biases, groupSize: 32, bits: 4))
                }
                let whole = product(x)
                for range in [0..<1, 0..<511, 100..<105, 511..<512, 200..<500] {
                    let part = product(x[range])
                    #expect(
                        Array(whole[(range.lowerBound * 96)..<(range.upperBound * 96)]) == part, "\(variant) \(range)")
                }
            }
        }

        @Test func valuesMayLieInAnyOrderInMemory() throws {
            var seed = Seeded(3)
            let weight = quantized(seed.normal([40, 128]), groupSize: 64, bits: 4)
            let biases = try #require(weight.biases)
            let x = seed.normal([128, 6])
            let across = quantizedMM(x.T, weight.wq, scales: weight.scales, biases: biases, groupSize: 64, bits: 4)
            let copy = MLXArray(x.T.asArray(Float.self), [6, 128])
            let along = quantizedMM(copy, weight.wq, scales: weight.scales, biases: biases, groupSize: 64, bits: 4)
            #expect(bits(across) == bits(along))
        }

        @Test(arguments: 0..<8)
        func denseProductsAreExactByRows(_ number: Int) throws {
            var seed = Seeded(UInt64(number) &+ 40)
            let (rows, columns, outputs) = (seed.int(1...20), seed.int(1...200), seed.int(1...50))
            let type: DType = seed.pick([.float32, .float16, .bfloat16])
            let x = seed.normal([rows, columns])
            let weight = seed.normal([outputs, columns]).asType(type)
            let (w, xs) = (doubles(weight), doubles(x))
            try withEveryVariant { variant, _ in
                let y = matmul(x, weight.T)
                let ys = doubles(y)
                for m in 0..<rows {
                    for n in 0..<outputs {
                        let terms = (0..<columns).map { w[n * columns + $0] * xs[m * columns + $0] }
                        let size = terms.reduce(1e-30) { $0 + abs($1) }
                        #expect(abs(ys[m * outputs + n] - terms.reduce(0, +)) <= 1e-6 * size, "\(variant)")
                    }
                }
                let alone = (0..<rows).flatMap { bits(matmul(x[$0..<($0 + 1)], weight.T)) }
                #expect(alone == bits(y), "\(variant)")
                #expect(
                    allClose(matmul(x, weight.T + 0), y, rtol: 1e-5, atol: 1e-5).item(Bool.self), "\(variant), copied")
            }
        }

        @Test func whatNoKernelTakesIsAnError() {
            let weight = quantized(MLXArray.ones([8, 64]), groupSize: 32, bits: 4)
            let x = MLXArray.ones([1, 64])
            #expect(throws: MLXError.self) {
                try withError {
                    _ = quantizedMM(x, weight.wq, scales: weight.scales, biases: weight.biases, groupSize: 48)
                }
            }
            #expect(throws: MLXError.self) {
                let narrow = MLXArray.ones([1, 63])
                try withError {
                    _ = quantizedMM(narrow, weight.wq, scales: weight.scales, biases: weight.biases, groupSize: 32)
                }
            }
            #expect(throws: CPUKernels.Refusal.self) { try CPUKernels.setVariant("sse9") }
            #expect(throws: CPUKernels.Refusal.self) { try CPUKernels.setThreads(65) }
        }
    }
}
