/// Rows of logits in plain Swift: what the kernels are compared with, and what runs where there are none.

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif

extension LogitRow {
    static func referenceBest(_ row: [Float]) -> Int? {
        var best = 0
        var sound = !row.isEmpty
        for (index, value) in row.enumerated() {
            if value > row[best] { best = index }
            // NaN is the one value that is not equal to itself.
            sound = sound && value == value
        }
        guard sound, row[best].isFinite else { return nil }
        return best
    }

    static func referenceTop(_ count: Int, of row: [Float]) -> [Int32] {
        guard count > 0 else { return [] }
        // A heap of the best so far, the worst of them on top; most of a row fails the first comparison.
        var heap = WorstFirstHeap(capacity: min(count, row.count))
        for (index, value) in row.enumerated() { heap.offer(value, index) }
        return heap.items.sorted { $0.value > $1.value || ($0.value == $1.value && $0.token < $1.token) }
            .map { Int32(truncatingIfNeeded: $0.token) }
    }

    static func referenceIndices(of row: [Float], temperature: Double, from floor: Double) -> [Int32] {
        // A comparison that goes either way at random costs more than a store.
        [Int32](unsafeUninitializedCapacity: row.count) { buffer, count in
            for (index, value) in row.enumerated() {
                buffer[count] = Int32(truncatingIfNeeded: index)
                count += Double(value) / temperature >= floor ? 1 : 0
            }
        }
    }

    static func referenceMass(of row: [Float], temperature: Double, best: Double) -> Double {
        row.reduce(0) { $0 + exp(Double($1) / temperature - best) }
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
