/// Memory is admitted, not discovered: what a request may take at worst is priced before it starts.

/// Bytes promised against the bytes there are.
struct MemoryBudget: Sendable {
    /// What a price means now.
    enum Verdict: Sendable {
        /// Free now.
        case fits
        /// Free once running requests have ended.
        case later
        /// Over what the weights leave, even alone.
        case never
    }

    /// The whole; nil: nothing is priced.
    let bytes: Int?
    /// Weights of ready models.
    var weightBytes = 0
    /// Worst cases of the requests that hold a sequence.
    var cacheBytes = 0

    /// Whether a cache of `price` bytes can be promised.
    func verdict(_ price: Int) -> Verdict {
        guard let bytes else { return .fits }
        let free = bytes - weightBytes
        if price > free { return .never }
        return price > free - cacheBytes ? .later : .fits
    }

    /// The refusal of a price that never fits, with its numbers.
    func refusal(_ price: Int, tokens: Int) -> EngineError {
        EngineError(
            .memory,
            "The request's worst case is \(price) bytes of cache (\(tokens) tokens); the budget of \(bytes ?? 0) bytes "
                + "leaves \(max(0, (bytes ?? 0) - weightBytes)) beside \(weightBytes) of weights")
    }
}

extension ModelDescription {
    /// Bytes of cache that so many tokens take; saturates, since a checkpoint may claim any context.
    func cacheBytes(tokens: Int) -> Int {
        let (product, overflow) = tokens.multipliedReportingOverflow(by: kvBytesPerToken)
        return overflow ? .max : product
    }
}
