/// What was told of positions, against a plain list of all of them.

import Testing

@testable import Engine

@Suite("Told positions")
struct ToldPositionsTests {
    private func refusal(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? EngineError)?.message
        }
    }

    @Test("Gaps, what is too far ahead, wrong lengths and unknown tokens are refused and change nothing")
    func refusals() throws {
        var told = ToldPositions(vocabularySize: 40)
        #expect(refusal { try told.tellFree(1, rows: 1) }?.contains("position is 1; wanted is up to 0") == true)
        #expect(refusal { try told.tellFree(0, rows: 0) }?.contains("rows is 0") == true)
        #expect(refusal { try told.tellMasks(0, rows: 2, words: [1, 2, 3]) }?.contains("2 words a row") == true)
        #expect(refusal { try told.tellMasks(0, rows: 0, words: []) }?.contains("1 row or more") == true)
        #expect(refusal { try told.tellTokens(0, [40]) }?.contains("token 40") == true)
        #expect(refusal { try told.tellTokens(0, []) } != nil)
        #expect(refusal { try told.tellTokens(0, Array(repeating: 1, count: 65)) }?.contains("65 tokens") == true)
        #expect(refusal { try told.replaceEnd([-1]) }?.contains("token -1") == true)
        #expect(told.next == nil)
        try told.tellFree(0, rows: 100)
        #expect(refusal { try told.tellTokens(64, [1]) }?.contains("less than 64 ahead") == true)
        try told.tellTokens(63, [1])
        #expect(refusal { try told.tellFree(65, rows: 1) } != nil, "what was behind 63 is forgotten")
    }

    @Test("Drawn positions are ignored, rows that straddle them are cut, bits past the vocabulary too")
    func drawn() throws {
        var told = ToldPositions(vocabularySize: 40)
        try told.tellMasks(0, rows: 1, words: [0, ~0])
        #expect(told.next == .mask([0, 0xFF]))
        told.take()
        try told.tellTokens(0, [1])
        #expect(told.next == nil)
        try told.tellMasks(0, rows: 2, words: [1, 0, 0, 0xFF00])
        #expect(told.next == .nothing)
        try told.tellTokens(0, [1, 2, 3])
        #expect(told.next == .force(2))
    }

    @Test("Any series of calls gives what a plain list gives", arguments: [1, 2, 3, 4] as [UInt64])
    func random(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var told = ToldPositions(vocabularySize: 32)
        var list: [Allowance] = []
        var drawn = 0
        for _ in 0..<3000 {
            let position = Int.random(in: max(drawn - 3, 0)...list.count, using: &random)
            let rows = Int.random(in: 1...9, using: &random)
            var news: [Allowance] = []
            let outcome: String?
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                news = Array(repeating: .free, count: rows)
                outcome = refusal { try told.tellFree(position, rows: rows) }
            case 1:
                let words = (0..<rows).map { _ in UInt32.random(in: 1...9, using: &random) }
                news = words.map { .mask([$0]) }
                outcome = refusal { try told.tellMasks(position, rows: rows, words: words) }
            default:
                let tokens = (0..<rows).map { _ in Int32.random(in: 0..<32, using: &random) }
                news = tokens.map { .force($0) }
                outcome = refusal { try told.tellTokens(position, tokens) }
            }
            if outcome == nil, position + rows > drawn {
                let kept = max(position, drawn)
                list.removeLast(list.count - kept)
                list += news.suffix(position + rows - kept)
            }
            #expect(outcome == nil || position + rows > drawn + Limits.maskAheadMax, "seed \(seed)")
            while drawn < list.count, Bool.random(using: &random) {
                #expect(told.next == list[drawn], "seed \(seed), position \(drawn)")
                told.take()
                drawn += 1
            }
            #expect(told.next == (drawn < list.count ? list[drawn] : nil))
        }
    }
}
