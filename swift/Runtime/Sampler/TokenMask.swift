/// Which tokens may be drawn, as bits over the vocabulary.

/// A mask in words of 32 tokens: bit t % 32 of word t / 32 is token t.
enum TokenMask {
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
                for token in start..<end where word >> UInt32(token - start) & 1 == 0 {
                    logits[token] = -.infinity
                }
            }
        }
    }
}
