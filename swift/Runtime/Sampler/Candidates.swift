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
        guard count < logits.count else {
            return logits.indices.map { Candidate(token: $0, scaled: Double(logits[$0]) / temperature) }
                .sorted { $0.precedes($1) }
        }
        // A heap of the best so far, the worst of them on top; most of a row fails the first comparison.
        var heap = WorstFirstHeap(capacity: count)
        for (token, logit) in logits.enumerated() {
            heap.offer(logit, token)
        }
        return heap.items.map { Candidate(token: $0.token, scaled: Double($0.value) / temperature) }
            .sorted { $0.precedes($1) }
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

    /// Top-p over a whole row: sorts only the tokens that may be kept.
    private static func nucleus(_ logits: [Float], temperature: Double, topP: Double) -> [Candidate] {
        let best = Double(logits.max() ?? 0) / temperature
        // Mass by distance from the best, in eighths; its sums differ in the last digits from those of the sorted
        // prefix, so they only choose how much is sorted, with a bin to spare.
        var bins = [Double](repeating: 0, count: 512)
        func bin(_ logit: Float) -> Int { Int(min((best - Double(logit) / temperature) * 8, 511)) }
        var mass = 0.0
        for logit in logits {
            let share = exp(Double(logit) / temperature - best)
            mass += share
            bins[bin(logit)] += share
        }
        var last = 0
        var before = bins[0]
        while before < topP * mass, last < bins.count - 1 {
            last += 1
            before += bins[last]
        }
        var near = logits.indices.filter { bin(logits[$0]) <= last + 1 }
            .map { Candidate(token: $0, scaled: Double(logits[$0]) / temperature) }
        near.sort { $0.precedes($1) }
        if let length = prefix(near, topP: topP, mass: mass) { return Array(near[..<length]) }
        let all = Candidates.best(logits.count, of: logits, temperature: temperature)
        return Array(all[..<(prefix(all, topP: topP, mass: mass) ?? all.count)])
    }
}

/// The best `capacity` of what it was offered.
struct WorstFirstHeap {
    /// In heap order.
    private(set) var items: [(value: Float, token: Int)] = []
    private let capacity: Int

    /// - Parameter capacity: > 0
    init(capacity: Int) {
        self.capacity = capacity
        items.reserveCapacity(capacity)
    }

    /// Takes the pair if it is among the best so far. Tokens must come in ascending order: on equal values the earlier
    /// one stays.
    mutating func offer(_ value: Float, _ token: Int) {
        if items.count < capacity {
            items.append((value, token))
            rise()
        } else if value > items[0].value {
            items[0] = (value, token)
            sink()
        }
    }

    private func worse(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = (items[left], items[right])
        return a.value < b.value || (a.value == b.value && a.token > b.token)
    }

    private mutating func rise() {
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard worse(child, parent) else { return }
            items.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var worst = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < items.count && worse(child, worst) {
                worst = child
            }
            guard worst != parent else { return }
            items.swapAt(parent, worst)
            parent = worst
        }
    }
}
