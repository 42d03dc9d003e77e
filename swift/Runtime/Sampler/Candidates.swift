/// Which tokens may be drawn: the k best, of those the shortest prefix with mass p, of those the ones near the best.
///
/// All three look at logits / T, in this order (keyed sampling of TensorFold; llama.cpp and Hugging Face also filter
/// after temperature, mlx-lm before it). Order among candidates is total, value first and then the lower id, so equal
/// rows always give equal candidates.

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Kernels

/// One token that may be drawn.
struct Candidate: Equatable {
    /// Token id.
    let token: Int
    /// logit / T.
    let scaled: Double

    /// Whether it stands before `other`.
    func precedes(_ other: Candidate) -> Bool {
        scaled > other.scaled || (scaled == other.scaled && token < other.token)
    }
}

/// The filters.
enum Candidates {
    /// The best `count` of a row, best first.
    /// - Parameters:
    ///   - logits: [V]
    ///   - temperature: > 0
    static func best(_ count: Int, of logits: [Float], temperature: Double) -> [Candidate] {
        LogitRow.top(count, of: logits).map {
            Candidate(token: Int($0), scaled: Double(logits[Int($0)]) / temperature)
        }
    }

    /// Tokens before which less than `topP` of the mass lies; at least the best.
    /// - Parameters:
    ///   - sorted: Candidates, best first.
    ///   - mass: Sum over the kept tokens of exp(scaled - best).
    /// - Returns: How many, or nil when `sorted` ends before the mass is reached.
    static func prefix(_ sorted: [Candidate], topP: Double, mass: Double) -> Int? {
        guard let best = sorted.first else { return nil }
        var before = 0.0
        for (index, candidate) in sorted.enumerated() {
            if index > 0, before >= topP * mass { return index }
            before += exp(candidate.scaled - best.scaled)
        }
        return before >= topP * mass ? sorted.count : nil
    }

    /// All filters on one row.
    /// - Parameters:
    ///   - logits: [V], no NaN.
    ///   - topK: 0: off.
    ///   - topP: (0, 1]; 1: off.
    ///   - minP: [0, 1]; 0: off.
    /// - Returns: Best first, at least one; nil when no filter that sorts is on, so every token is a candidate.
    static func keep(
        _ logits: [Float], temperature: Double, topK: Int, topP: Double, minP: Double
    ) -> [Candidate]? {
        var kept: [Candidate]
        if topK > 0 {
            kept = best(topK, of: logits, temperature: temperature)
            if topP < 1, let top = kept.first {
                let mass = kept.reduce(0) { $0 + exp($1.scaled - top.scaled) }
                kept.removeLast(kept.count - (prefix(kept, topP: topP, mass: mass) ?? kept.count))
            }
        } else if topP < 1 {
            kept = nucleus(logits, temperature: temperature, topP: topP)
        } else {
            return nil
        }
        if minP > 0, let top = kept.first {
            let floor = top.scaled + log(minP)
            kept.removeLast(kept.count - (kept.firstIndex { $0.scaled < floor } ?? kept.count))
        }
        return kept
    }

    /// How far below the best, in units of logit / T, a token may be for the first try: e^-16 of the best's share.
    private static let near = 16.0

    /// Top-p over a whole row: sorts only the tokens that may be kept.
    private static func nucleus(_ logits: [Float], temperature: Double, topP: Double) -> [Candidate] {
        let best = Double(LogitRow.best(logits).map { logits[$0] } ?? 0) / temperature
        let mass = LogitRow.mass(of: logits, temperature: temperature, best: best)
        let close = LogitRow.indices(of: logits, temperature: temperature, from: best - near)
        // Mass by distance from the best, in eighths; its sums differ in the last digits from those of the sorted
        // prefix, so they only choose how much is sorted, with a bin to spare.
        var bins = [Double](repeating: 0, count: Int(near) * 8 + 1)
        func bin(_ token: Int32) -> Int { Int((best - Double(logits[Int(token)]) / temperature) * 8) }
        for token in close { bins[bin(token)] += exp(Double(logits[Int(token)]) / temperature - best) }
        var last = 0
        var before = bins[0]
        while before < topP * mass, last < bins.count - 1 {
            last += 1
            before += bins[last]
        }
        var kept = close.filter { bin($0) <= last + 1 }
            .map { Candidate(token: Int($0), scaled: Double(logits[Int($0)]) / temperature) }
        kept.sort { $0.precedes($1) }
        if let length = prefix(kept, topP: topP, mass: mass) { return Array(kept[..<length]) }
        let all = Candidates.best(logits.count, of: logits, temperature: temperature)
        return Array(all[..<(prefix(all, topP: topP, mass: mass) ?? all.count)])
    }
}
