/// Which tokens may be drawn, as bits over the vocabulary.

import Kernels

/// A mask in words of 32 tokens: bit t % 32 of word t / 32 is token t.
enum TokenMask {
    /// Tokens up to which a search over those alone is sooner done than one over the row.
    private static let fewTokens = 2048

    /// What `LogitRow.best` gives for a row after `apply`, without a copy of the row.
    /// - Parameters:
    ///   - words: ceil(V / 32); what is missing allows nothing.
    ///   - logits: [V].
    /// - Returns: `.some(nil)` if nothing can be drawn; nil: that takes a row of its own.
    static func best(_ words: [UInt32], of logits: [Float]) -> Int?? {
        // The best of all is the best of fewer, if it is one of them.
        var count = 0
        for word in words {
            count += word.nonzeroBitCount
            if count > fewTokens { break }
        }
        if count > fewTokens {
            guard let best = LogitRow.best(logits), allows(words, best) else { return nil }
            return .some(best)
        }
        var best: Int?
        var largest = -Float.infinity
        for (index, word) in words.enumerated() {
            var left = word
            while left != 0 {
                let token = index * 32 + left.trailingZeroBitCount
                left &= left - 1
                guard token < logits.count else { break }
                let logit = logits[token]
                if logit.isNaN { return .some(nil) }
                if logit > largest {
                    largest = logit
                    best = token
                }
            }
        }
        return .some(largest == .infinity ? nil : best)
    }

    private static func allows(_ words: [UInt32], _ token: Int) -> Bool {
        token / 32 < words.count && words[token / 32] >> UInt32(token % 32) & 1 == 1
    }

    /// Puts every token that is not allowed out of reach.
    /// - Parameters:
    ///   - words: ceil(V / 32); what is missing allows nothing.
    ///   - logits: [V], changed in place.
    static func apply(_ words: [UInt32], to logits: inout [Float]) {
        logits.withUnsafeMutableBufferPointer { logits in
            for start in stride(from: 0, to: logits.count, by: 32) {
                let word = start / 32 < words.count ? words[start / 32] : 0
                if word == .max { continue }
                let end = min(start + 32, logits.count)
                if word == 0 {
                    logits[start..<end].update(repeating: -.infinity)
                    continue
                }
                for token in start..<end where word >> UInt32(token - start) & 1 == 0 {
                    logits[token] = -.infinity
                }
            }
        }
    }
}
