/// Rows of logits against their reference, on the user's machine.

import MLX

extension LogitRow {
    static let check = KernelCheck(
        "LogitRow",
        [49_152, 1001].map { count in
            KernelCase("argmax, best 64, near the best and mass of \(count) logits") {
                var make = SyntheticWeights(seed: 8)
                // Whole numbers: ties.
                let row = try withError { round(make.values([count], scale: 3)).asArray(Float.self) }
                let top = Double(row.max() ?? 0)
                let equal =
                    best(row) == referenceBest(row) && LogitRow.top(64, of: row) == referenceTop(64, of: row)
                    && indices(of: row, temperature: 1, from: top - 3)
                        == referenceIndices(of: row, temperature: 1, from: top - 3)
                let wanted = referenceMass(of: row, temperature: 1, best: top)
                let error = abs(mass(of: row, temperature: 1, best: top) - wanted) / wanted
                return KernelDifference(error: equal ? Float(error) : .infinity, allowed: 1e-12)
            }
        })
}
