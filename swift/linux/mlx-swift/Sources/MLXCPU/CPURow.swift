// Searches and sums over one row of logits, for a sampler. On the calling thread; every variant gives the same bits.
import CMLX

/// Rows of logits `[V]` without NaN.
public enum CPURow {
    /// The lowest index of the largest value.
    /// - Returns: Nil if a value is a NaN, or the largest is infinite, or there is none.
    public static func best(_ row: [Float]) -> Int? {
        let index = row.withUnsafeBufferPointer { cmlx_cpu_best_index($0.baseAddress, $0.count) }
        return index < 0 ? nil : Int(index)
    }

    /// Indices of the `count` largest, best first, the lower one first on ties.
    public static func top(_ count: Int, of row: [Float]) -> [Int32] {
        let kept = max(0, min(count, row.count))
        return [Int32](unsafeUninitializedCapacity: kept) { out, found in
            found = row.withUnsafeBufferPointer {
                cmlx_cpu_top_indices($0.baseAddress, $0.count, kept, out.baseAddress)
            }
        }
    }

    /// Indices in order with value / temperature >= floor, in float64.
    public static func indices(of row: [Float], temperature: Double, from floor: Double) -> [Int32] {
        [Int32](unsafeUninitializedCapacity: row.count) { out, found in
            found = row.withUnsafeBufferPointer {
                cmlx_cpu_indices_from($0.baseAddress, $0.count, temperature, floor, out.baseAddress)
            }
        }
    }

    /// Sum of exp(value / temperature - best).
    /// - Parameter best: The largest quotient.
    public static func mass(of row: [Float], temperature: Double, best: Double) -> Double {
        row.withUnsafeBufferPointer { cmlx_cpu_mass($0.baseAddress, $0.count, temperature, best) }
    }
}
