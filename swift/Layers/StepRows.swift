/// The rows of one step as the layers see them, and the cache that attention writes to.
///
/// Row-wise work runs once over all R rows; mixers run a span at a time on that sequence's cache (docs/design/0004).

import Kernels
import MLX

/// One sequence's share of the rows.
public struct RowSpan {
    /// Its rows.
    public let range: Range<Int>
    /// One cache a layer.
    public let caches: [KeyValueCache]

    /// Pairs them.
    public init(range: Range<Int>, caches: [KeyValueCache]) {
        self.range = range
        self.caches = caches
    }
}

/// All rows of a step.
public struct StepRows {
    /// [R], int32.
    public let tokens: MLXArray
    /// [R], int32: absolute positions.
    public let positions: MLXArray
    /// In order of rows, without gaps.
    public let spans: [RowSpan]

    /// Joins them.
    public init(tokens: MLXArray, positions: MLXArray, spans: [RowSpan]) {
        self.tokens = tokens
        self.positions = positions
        self.spans = spans
    }
}
