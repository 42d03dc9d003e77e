/// The fused blocks against their references, and their rows' bits whatever else is in the call.

import MLX
import Testing

@testable import Kernels

/// How a block's weights are stored.
struct Storage: Sendable, CustomTestStringConvertible {
    let bits: Int
    var bias = false
    var headNorms = false
    var periods = false
    var testDescription: String { "\(bits) bits, bias \(bias), head norms \(headNorms), periods \(periods)" }
}

/// The bits of an array's elements.
private func bits(_ array: MLXArray) -> [UInt32] { array.asArray(Float.self).map(\.bitPattern) }

/// All suites, one test at a time: MLX belongs to one thread.
@Suite("Kernels", .serialized) struct KernelsSuite {}

extension KernelsSuite {
    @Suite struct FeedForwardBlockTests {
        @Test(arguments: [2, 3, 4, 5, 6, 8, 0], [false, true])
        func theKernelEqualsItsReference(_ bits: Int, _ bias: Bool) throws {
            let block = try FeedForwardBlock.synthetic(width: 96, inner: 160, bits: bits, bias: bias)
            var make = SyntheticWeights(seed: 9)
            for rows in [1, 3, 40] {
                let x = make.values([rows, 96])
                #expect(abs(block(x) - block.reference(x)).max().item(Float.self) < 1e-4, "\(rows) rows")
            }
        }

        @Test func aRowsBitsDependOnTheRowAlone() throws {
            let block = try FeedForwardBlock.synthetic(width: 192, inner: 512, bits: 4)
            var make = SyntheticWeights(seed: 10)
            let x = make.values([70, 192])
            let whole = bits(block(x))
            for count in [1, 2, 5, 33, 69] {
                #expect(bits(block(x[0..<count])) + bits(block(x[count...])) == whole, "cut at \(count)")
            }
        }

        @Test func halfRowsGiveHalfRows() throws {
            let block = try FeedForwardBlock.synthetic(width: 96, inner: 160, bits: 4)
            var make = SyntheticWeights(seed: 12)
            let x = make.values([3, 96])
            // The bound is that of exact arithmetic.
            let (type, error) = Processor.exactly {
                let half = block(x.asType(.float16))
                return (half.dtype, abs(half.asType(.float32) - block(x)).max().item(Float.self))
            }
            #expect(type == .float16)
            #expect(error < 1e-2)
        }

        @Test func sizesThatDoNotFitAreAnError() {
            var make = SyntheticWeights(seed: 11)
            let (norm, gate, up, down) = (
                make.norm(96), make.matrix(160, 96, bits: 4), make.matrix(128, 96, bits: 4),
                make.matrix(96, 160, bits: 4)
            )
            guard Processor.variant != nil else { return }
            #expect(throws: KernelError.self) { try FeedForwardBlock(norm: norm, gate: gate, up: up, down: down) }
        }
    }

    @Suite struct AttentionBlockTests {
        /// Runs rows through a block in pieces that end at `cuts`; one sequence from position 0.
        private func run(_ block: AttentionBlock, _ x: MLXArray, cuts: [Int]) -> MLXArray {
            let cache = KeyValueCache(capacity: x.dim(0), dtype: .float32)
            var pieces: [MLXArray] = []
            for (start, end) in zip([0] + cuts, cuts + [x.dim(0)]) {
                let positions = MLXArray((start..<end).map { Int32($0) })
                let piece = block(
                    x[start..<end], positions: positions, spans: [.init(count: end - start, cache: cache)])
                eval(cache.state + [piece])
                pieces.append(piece)
            }
            return concatenated(pieces, axis: 0)
        }

        @Test(arguments: [
            Storage(bits: 4), Storage(bits: 8), Storage(bits: 6, bias: true), Storage(bits: 0, headNorms: true),
            Storage(bits: 3, bias: true, headNorms: true, periods: true),
        ])
        func theKernelEqualsItsReference(_ storage: Storage) throws {
            let periods = (0..<32).map { Float(1 + $0 * $0) }
            let block = try AttentionBlock.synthetic(
                width: 96, bits: storage.bits, bias: storage.bias, headNorms: storage.headNorms,
                periods: storage.periods ? periods : nil)
            var make = SyntheticWeights(seed: 20)
            let x = make.values([150, 96])
            let caches = (0..<2).map { _ in KeyValueCache(capacity: 150, dtype: .float32) }
            for range in [0..<140, 140..<149, 149..<150] {
                let positions = MLXArray(range.map { Int32($0) })
                let spans = caches.map { [AttentionBlock.Span(count: range.count, cache: $0)] }
                let fused = block(x[range], positions: positions, spans: spans[0])
                let plain = block.reference(x[range], positions: positions, spans: spans[1])
                eval(caches.flatMap(\.state))
                #expect(abs(fused - plain).max().item(Float.self) < 1e-4, "rows \(range)")
            }
            #expect(caches.map(\.count) == [150, 150])
        }

        @Test(arguments: [4, 0])
        func aRowsBitsDoNotDependOnTheChunks(_ stored: Int) throws {
            let block = try AttentionBlock.synthetic(width: 96, bits: stored)
            var make = SyntheticWeights(seed: 21)
            let x = make.values([300, 96])
            let whole = bits(run(block, x, cuts: []))
            for cuts in [[1], [128], [127, 129], [7, 64, 200, 299], [256, 257, 258]] {
                #expect(bits(run(block, x, cuts: cuts)) == whole, "\(cuts)")
            }
        }

        @Test func sequencesTogetherEqualEachAlone() throws {
            let block = try AttentionBlock.synthetic(width: 96, bits: 4)
            var make = SyntheticWeights(seed: 22)
            let lengths = [1, 140, 3, 17]
            let rows = lengths.map { make.values([$0, 96]) }
            let alone = rows.map { bits(run(block, $0, cuts: [])) }
            let caches = lengths.map { KeyValueCache(capacity: $0, dtype: .float32) }
            let positions = MLXArray(lengths.flatMap { (0..<$0).map { Int32($0) } })
            let spans = zip(lengths, caches).map { AttentionBlock.Span(count: $0, cache: $1) }
            let together = block(concatenated(rows, axis: 0), positions: positions, spans: spans)
            eval(caches.flatMap(\.state) + [together])
            #expect(bits(together) == alone.flatMap { $0 })
        }

        @Test func cachesRoundToTheirType() throws {
            let block = try AttentionBlock.synthetic(width: 96, bits: 4)
            var make = SyntheticWeights(seed: 23)
            let x = make.values([40, 96])
            let positions = MLXArray((0..<40).map { Int32($0) })
            let results = [DType.float32, .float16, .bfloat16].map { type in
                block(
                    x, positions: positions, spans: [.init(count: 40, cache: KeyValueCache(capacity: 40, dtype: type))])
            }
            #expect(abs(results[1] - results[0]).max().item(Float.self) < 1e-2)
            #expect(abs(results[2] - results[0]).max().item(Float.self) < 5e-2)
            #expect(bits(results[1]) != bits(results[0]))
        }
    }

    @Suite struct KernelCheckTests {
        @Test func everyCheckPassesHere() throws {
            for check in KernelChecks.all {
                for item in check.cases + check.deepCases {
                    let found = try item.compare()
                    #expect(found.error <= found.allowed, "\(check.name), \(item.name): \(found.error)")
                }
            }
        }
    }
}

extension KernelsSuite {
    @Suite struct TokenTableTests {
        @Test(arguments: [2, 3, 4, 5, 6, 8, 0])
        func rowsAreThoseOfTheReferenceWithinItsRounding(_ bits: Int) throws {
            let table = try TokenTable.synthetic(count: 37, width: 96, bits: bits)
            let indices = MLXArray([36, 0, 5, 5] as [Int32])
            let error = abs(table.rows(indices) - table.referenceRows(indices).asType(.float32)).max()
            #expect(error.item(Float.self) < 1e-3)
        }

        /// Counts around the pieces of 256, widths with and without long blocks.
        @Test(arguments: [2, 3, 4, 5, 6, 8, 0], [(1, 32), (255, 96), (257, 576), (1030, 1088)])
        func theBestTokenIsTheArgmaxOfTheLogitsBitForBit(_ bits: Int, _ size: (Int, Int)) throws {
            let table = try TokenTable.synthetic(count: size.0, width: size.1, bits: bits)
            var make = SyntheticWeights(seed: 21)
            for rows in [1, 2, 7, 17] {
                let x = make.values([rows, size.1])
                #expect(arrayEqual(table.best(x), table.referenceBest(x)).item(Bool.self), "\(rows) rows")
            }
        }

        @Test func theFirstOfEqualLogitsIsTheBest() throws {
            var rows = [Float](repeating: 0, count: 600 * 32)
            for row in [300, 301, 599] { rows[row * 32] = 2 }
            let table = try TokenTable(
                KernelMatrix(name: "equal", weight: MLXArray(rows, [600, 32]), quantization: nil, bias: nil))
            let x = MLXArray([1 as Float] + [Float](repeating: 0, count: 31), [1, 32])
            #expect(table.best(x).asArray(UInt32.self) == [300, Float(2).bitPattern])
            #expect(table.best(x * -1).asArray(UInt32.self)[0] == 0)
        }

        @Test func aNaNAmongTheLogitsIsNoBestToken() throws {
            var rows = [Float](repeating: 1, count: 600 * 32)
            rows[500 * 32 + 3] = .nan
            let table = try TokenTable(
                KernelMatrix(name: "damaged", weight: MLXArray(rows, [600, 32]), quantization: nil, bias: nil))
            let found = table.best(MLXArray.ones([1, 32])).asArray(UInt32.self)
            #expect(Float(bitPattern: found[1]).isNaN)
        }
    }
}
