/// Searches and sums over one row of logits, for the sampler: argmax, the best k, all that are near the best, the mass.
///
/// Shapes: rows [V], float32. On the CPU vector kernels on the calling thread, the same bits in every variant and for
/// every number of threads, so that a seed draws the same token. Elsewhere plain Swift.
/// Assumes: no NaN, but for `best`, which looks for them.
/// Beats: see README.md.
/// Reference: LogitRow+Reference.swift.

#if canImport(MLXCPU)
    import MLXCPU
#endif

/// One row of logits.
public enum LogitRow {
    /// The lowest index among the largest.
    /// - Returns: Nil when a value is a NaN, or when the largest is infinite, or there is none.
    public static func best(_ row: [Float]) -> Int? {
        #if canImport(MLXCPU)
            CPURow.best(row)
        #else
            referenceBest(row)
        #endif
    }

    /// Indices of the largest `count`, best first, the lower one first on ties.
    public static func top(_ count: Int, of row: [Float]) -> [Int32] {
        #if canImport(MLXCPU)
            CPURow.top(count, of: row)
        #else
            referenceTop(count, of: row)
        #endif
    }

    /// Indices in order with Double(value) / temperature >= floor.
    public static func indices(of row: [Float], temperature: Double, from floor: Double) -> [Int32] {
        #if canImport(MLXCPU)
            CPURow.indices(of: row, temperature: temperature, from: floor)
        #else
            referenceIndices(of: row, temperature: temperature, from: floor)
        #endif
    }

    /// Sum of exp(value / temperature - best) in float64.
    /// - Parameter best: The largest value / temperature.
    public static func mass(of row: [Float], temperature: Double, best: Double) -> Double {
        #if canImport(MLXCPU)
            CPURow.mass(of: row, temperature: temperature, best: best)
        #else
            referenceMass(of: row, temperature: temperature, best: best)
        #endif
    }
}
