/// The rows of one step as the layers see them, and the cache that attention writes to.
///
/// Row-wise work runs once over all R rows; mixers run a span at a time on that sequence's cache (docs/design/0004).

import MLX

/// Keys and values of one layer of one sequence.
public protocol AttentionCache: AnyObject {
    /// Appends T rows and lends all S rows, the new ones included, for use in this step's arrays only: an array that
    /// outlives the step would make the next append copy the whole cache.
    /// - Parameters:
    ///   - keys: [1, K, T, D]
    ///   - values: [1, K, T, D]
    /// - Returns: Keys and values, [1, K, S, D].
    func append(keys: MLXArray, values: MLXArray) -> (keys: MLXArray, values: MLXArray)
}

/// One sequence's share of the rows.
public struct RowSpan {
    /// Its rows.
    public let range: Range<Int>
    /// One cache a layer.
    public let caches: [any AttentionCache]

    /// Pairs them.
    public init(range: Range<Int>, caches: [any AttentionCache]) {
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
