/// What the searches of a draw cost on this machine beside plain Swift: `rmx-core bench --profile` prints it.

import MLX

/// One search over a made-up row.
public struct LogitRowCost: Sendable, Encodable {
    /// For people, e.g. `best 64`.
    public let name: String
    /// Microseconds of the kernel, the best of several.
    public let kernelUs: Double
    /// Microseconds of plain Swift.
    public let referenceUs: Double

    enum CodingKeys: String, CodingKey {
        case name
        case kernelUs = "kernel_us"
        case referenceUs = "reference_us"
    }
}

extension LogitRow {
    /// Measures all of them.
    /// - Parameter count: Logits of the row.
    public static func costs(count: Int, rounds: Int = 15) -> [LogitRowCost] {
        var make = SyntheticWeights(seed: 7)
        let row = make.values([count], scale: 3).asArray(Float.self)
        let top = Double(row.max() ?? 0)
        func best(_ body: () -> Int) -> Double {
            let clock = ContinuousClock()
            let times = (0..<rounds).map { _ in clock.measure { spent &+= body() } }
            return Double((times.min() ?? .zero).components.attoseconds) / 1e12
        }
        // What is computed must not be left out.
        var spent = 0
        let costs = [
            LogitRowCost(
                name: "argmax", kernelUs: best { LogitRow.best(row) ?? 0 }, referenceUs: best { referenceBest(row) ?? 0 }),
            LogitRowCost(
                name: "best 64", kernelUs: best { LogitRow.top(64, of: row).count },
                referenceUs: best { referenceTop(64, of: row).count }),
            LogitRowCost(
                name: "within 6 of the best",
                kernelUs: best { LogitRow.indices(of: row, temperature: 0.7, from: top / 0.7 - 6).count },
                referenceUs: best { referenceIndices(of: row, temperature: 0.7, from: top / 0.7 - 6).count }),
            LogitRowCost(
                name: "softmax mass", kernelUs: best { Int(LogitRow.mass(of: row, temperature: 0.7, best: top / 0.7)) },
                referenceUs: best { Int(referenceMass(of: row, temperature: 0.7, best: top / 0.7)) }),
        ]
        return spent == .min ? [] : costs
    }
}
