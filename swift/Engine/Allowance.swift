/// What may be drawn at the positions ahead of a masked request: told from any thread, read by the engine thread, kept
/// in the mailbox under its lock.
///
/// Positions count drawn tokens from 0. They are told in order and without a gap; telling one again replaces it and
/// forgets all behind it, so a caller that walked ahead can step back.

/// What may be drawn at one position.
public enum Allowance: Sendable, Equatable {
    /// Any token.
    case free
    /// Token t if bit t % 32 of word t / 32 is set: ceil(V / 32) words, no bit past V, at least one set.
    case mask([UInt32])
    /// A mask without a bit.
    case nothing
    /// This token.
    case force(Int32)
}

/// Positions of one request that are told and not drawn.
///
/// Invariants: `bound` and `free` hold positions from `drawn` up to `end`, each in one of them and none missing;
/// those in `bound` are less than `Limits.maskAheadMax` ahead of `drawn`; neighbours in `free` are one range.
struct ToldPositions: Sendable {
    private let vocabularySize: Int
    private var bound: [Int: Allowance] = [:]
    private var free: [Range<Int>] = []
    /// The first position that is not told.
    private var end = 0
    /// The next position to draw.
    private var drawn = 0
    /// What an end token that is drawn gives way to; empty: it ends.
    private(set) var insteadOfEnd: [Int32] = []

    /// Nothing told.
    init(vocabularySize: Int) {
        self.vocabularySize = vocabularySize
    }

    /// Words of a mask's row.
    var rowWords: Int { (vocabularySize + 31) / 32 }

    /// What the next position was told.
    var next: Allowance? {
        if let first = free.first, first.contains(drawn) { return .free }
        return bound[drawn]
    }

    /// The next position is drawn.
    mutating func take() {
        bound[drawn] = nil
        drawn += 1
        if let first = free.first, first.upperBound <= drawn { free.removeFirst() }
        end = max(end, drawn)
    }

    /// So many positions are free.
    /// - Throws: `argument`.
    mutating func tellFree(_ position: Int, rows: Int) throws(EngineError) {
        guard let told = try begin(position, rows: rows) else { return }
        if let last = free.last, last.upperBound == told.lowerBound {
            free[free.count - 1] = last.lowerBound..<told.upperBound
        } else {
            free.append(told)
        }
    }

    /// Masks, one row after the other.
    /// - Throws: `argument`.
    mutating func tellMasks(_ position: Int, rows: Int, words: [UInt32]) throws(EngineError) {
        guard rows > 0, words.count == rows * rowWords else {
            throw EngineError(
                .argument, "\(words.count) words for \(rows) rows; wanted are \(rowWords) words a row and 1 row or more")
        }
        try refuseFar(position + rows)
        guard let told = try begin(position, rows: rows) else { return }
        for position in told {
            let start = (position - told.upperBound + rows) * rowWords
            bound[position] = allowance(of: Array(words[start..<start + rowWords]))
        }
    }

    /// Tokens, one a position.
    /// - Throws: `argument`.
    mutating func tellTokens(_ position: Int, _ tokens: [Int32]) throws(EngineError) {
        guard !tokens.isEmpty else { throw EngineError(.argument, "No token is given; wanted is one or more") }
        try check(tokens)
        try refuseFar(position + tokens.count)
        guard let told = try begin(position, rows: tokens.count) else { return }
        for position in told { bound[position] = .force(tokens[position - told.upperBound + tokens.count]) }
    }

    /// An end token gives way to these from now on.
    /// - Throws: `argument`.
    mutating func replaceEnd(_ tokens: [Int32]) throws(EngineError) {
        try check(tokens)
        insteadOfEnd = tokens
    }

    /// Forgets what was told from `position` on. Gives the positions to tell; nil if all of them are drawn.
    private mutating func begin(_ position: Int, rows: Int) throws(EngineError) -> Range<Int>? {
        guard rows > 0 else { throw EngineError(.argument, "rows is \(rows); wanted is 1 or more") }
        guard position <= end else {
            throw EngineError(
                .argument, "position is \(position); wanted is up to \(end), which is the first that is not told")
        }
        let start = max(position, drawn)
        guard position + rows > start else { return nil }
        if end > start {
            bound = bound.filter { $0.key < start }
            free = free.map { $0.clamped(to: 0..<start) }.filter { !$0.isEmpty }
        }
        end = position + rows
        return start..<end
    }

    private func refuseFar(_ end: Int) throws(EngineError) {
        guard end <= drawn + Limits.maskAheadMax else {
            throw EngineError(
                .argument,
                "Positions up to \(end - 1) with \(drawn) tokens drawn; wanted are less than \(Limits.maskAheadMax) ahead")
        }
    }

    private func check(_ tokens: [Int32]) throws(EngineError) {
        guard tokens.count <= Limits.maskAheadMax else {
            throw EngineError(
                .argument, "\(tokens.count) tokens; wanted are less than \(Limits.maskAheadMax + 1), the most that is kept")
        }
        if let unknown = tokens.first(where: { !(0..<vocabularySize).contains(Int($0)) }) {
            throw EngineError(
                .argument, "token \(unknown) is not in the vocabulary; wanted is 0 to \(vocabularySize - 1)")
        }
    }

    private func allowance(of row: [UInt32]) -> Allowance {
        var words = row
        if vocabularySize % 32 != 0 { words[words.count - 1] &= (1 << UInt32(vocabularySize % 32)) - 1 }
        return words.allSatisfy { $0 == 0 } ? .nothing : .mask(words)
    }
}

/// What the scheduler asks of those who keep what was told; the mailbox is one.
protocol Guides: AnyObject {
    /// What the next position of a masked request was told; nil: nothing yet.
    func allowance(tag: UInt32) -> Allowance?
    /// What an end token of the request gives way to; empty: it ends.
    func insteadOfEnd(tag: UInt32) -> [Int32]
    /// The next position is drawn.
    func take(tag: UInt32)
}
