/// A loaded model with its live sequences: turns a scheduled step into arrays and back.
///
/// The only place that evaluates, and always inside `withError`, so a failure of MLX is an error of the step and never
/// the end of the process. Runs on the engine thread. Knows nothing of requests, queues or text.

import Engine
#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Kernels
import Layers
import MLX
import Models

/// `StepRunner` over a graph.
final class ModelRunner: StepRunner {
    /// One live sequence.
    private struct Sequence {
        var caches: [KeyValueCache]
        let capacity: Int
        var count = 0
        /// The last row's logits, [V], if the last step was told to keep them.
        var held: [Float]?
    }

    let description: ModelDescription
    private let graph: any ModelGraph
    private let cacheType: DType
    private let files: [MappedFile]
    private var sequences: [SequenceID: Sequence] = [:]

    /// - Parameters:
    ///   - graph: With filled parameters.
    ///   - cacheType: What keys and values are rounded to.
    ///   - files: Where weights lie; steps fail once one of them is no longer whole.
    init(
        _ graph: any ModelGraph, cacheType: DType, _ description: ModelDescription, files: [MappedFile] = []
    ) {
        self.graph = graph
        self.cacheType = cacheType
        self.description = description
        self.files = files
    }

    func open(_ sequence: SequenceID, capacityTokens: Int) throws {
        guard sequences[sequence] == nil else {
            throw EngineError(.argument, "sequence \(sequence.rawValue) is open already")
        }
        guard (1...description.contextTokens).contains(capacityTokens) else {
            throw EngineError(
                .argument, "a cache of \(capacityTokens) tokens; wanted 1 to \(description.contextTokens)")
        }
        let caches = (0..<graph.facts.layerCount).map { _ in
            KeyValueCache(capacity: capacityTokens, dtype: cacheType)
        }
        sequences[sequence] = Sequence(caches: caches, capacity: capacityTokens)
    }

    func close(_ sequence: SequenceID) { sequences[sequence] = nil }

    func step(_ segments: [Segment]) throws -> [SegmentOutcome] {
        var outcomes = [SegmentOutcome](repeating: .advanced, count: segments.count)
        var running: [Int] = []
        var seen: Set<SequenceID> = []
        for (index, segment) in segments.enumerated() {
            if let refusal = refusal(of: segment, isFirst: seen.insert(segment.sequence).inserted) {
                outcomes[index] = .failed(refusal)
            } else {
                running.append(index)
            }
        }
        guard !running.isEmpty else { return outcomes }
        for index in running { sequences[segments[index].sequence]?.held = nil }
        do {
            let drawn = try run(running.map { segments[$0] })
            for file in files { try file.requireWhole() }
            for (index, outcome) in zip(running, drawn) { outcomes[index] = outcome }
        } catch let error as EngineError {
            throw error
        } catch {
            throw EngineError(.internal, "a step of \(running.count) sequences failed: \(error)")
        }
        for index in running { sequences[segments[index].sequence]?.count += segments[index].tokens.count }
        return outcomes
    }

    /// Why a segment can't run; nil: it can.
    private func refusal(of segment: Segment, isFirst: Bool) -> EngineError? {
        guard let sequence = sequences[segment.sequence] else {
            return EngineError(.argument, "sequence \(segment.sequence.rawValue) is not open")
        }
        guard isFirst else {
            return EngineError(.argument, "sequence \(segment.sequence.rawValue) is in the step twice")
        }
        guard !segment.tokens.isEmpty, segment.position == sequence.count else {
            return EngineError(
                .argument,
                "\(segment.tokens.count) rows at position \(segment.position); wanted some at \(sequence.count)")
        }
        guard segment.tokens.count <= sequence.capacity - sequence.count else {
            return EngineError(
                .argument,
                "\(segment.tokens.count) rows at position \(segment.position) pass the \(sequence.capacity) opened for")
        }
        let vocabulary = Int32(clamping: description.vocabularySize)
        if let token = segment.tokens.first(where: { !(0..<vocabulary).contains($0) }) {
            return EngineError(.argument, "token \(token) is not in the vocabulary of \(vocabulary)")
        }
        if let bias = segment.sample?.parameters.logitBias.first(where: { !(0..<vocabulary).contains($0.token) }) {
            return EngineError(.argument, "logit bias for token \(bias.token), vocabulary of \(vocabulary)")
        }
        return nil
    }

    /// Runs segments that passed `refusal`.
    private func run(_ segments: [Segment]) throws -> [SegmentOutcome] {
        try withError { error in
            let wanted = segments.indices.filter { segments[$0].sample != nil || segments[$0].holds }
            let (hidden, state) = try forward(segments)
            guard !wanted.isEmpty else {
                // The caches may be written by the graph of the rows alone.
                eval(state + [hidden])
                try error.check()
                return segments.map { _ in .advanced }
            }
            let last = lastRows(hidden, of: segments, wanted)
            let drawing = wanted.map { segments[$0] }
            let drawn =
                drawing.allSatisfy { $0.sample.map { Sampler.isPlainArgmax($0.parameters) } ?? false }
                ? try pickBest(try graph.best(last), drawing, with: state, error)
                : try draw(graph.logits(last), drawing, with: state, error)
            var outcomes = [SegmentOutcome](repeating: .advanced, count: segments.count)
            for (index, outcome) in zip(wanted, drawn) { outcomes[index] = outcome }
            return outcomes
        }
    }

    /// Runs one segment as a step does and gives its last row of logits instead of a token.
    /// - Returns: [V]
    func lastLogits(_ segment: Segment) throws -> [Float] {
        if let refusal = refusal(of: segment, isFirst: true) { throw refusal }
        let row = try withError { error in
            let (hidden, state) = try forward([segment])
            let logits = graph.logits(lastRows(hidden, of: [segment], [0])).asType(.float32)
            eval(state + [logits])
            try error.check()
            return logits.asArray(Float.self)
        }
        sequences[segment.sequence]?.count += segment.tokens.count
        return row
    }

    /// - Returns: [R, C] after the last norm, and what must be evaluated so that the caches hold data and no graph.
    private func forward(_ segments: [Segment]) throws -> (hidden: MLXArray, state: [MLXArray]) {
        let caches = segments.map { sequences[$0.sequence]?.caches ?? [] }
        let hidden = try graph.hidden(rows(of: segments, caches))
        return (hidden, caches.flatMap { $0.flatMap(\.state) })
    }

    private func rows(of segments: [Segment], _ caches: [[KeyValueCache]]) -> StepRows {
        var tokens: [Int32] = []
        var positions: [Int32] = []
        var spans: [RowSpan] = []
        for (segment, caches) in zip(segments, caches) {
            let start = tokens.count
            tokens += segment.tokens
            positions += segment.tokens.indices.map { Int32(segment.position + $0) }
            spans.append(RowSpan(range: start..<tokens.count, caches: caches))
        }
        return StepRows(tokens: MLXArray(tokens), positions: MLXArray(positions), spans: spans)
    }

    /// The rows that a token is drawn from.
    /// - Parameter hidden: [R, C]
    /// - Returns: [N, C], in order of `wanted`.
    private func lastRows(_ hidden: MLXArray, of segments: [Segment], _ wanted: [Int]) -> MLXArray {
        var ends: [Int32] = []
        for segment in segments { ends.append((ends.last ?? -1) + Int32(segment.tokens.count)) }
        guard Int(ends.last ?? -1) + 1 != wanted.count else { return hidden }
        return hidden.take(MLXArray(wanted.map { ends[$0] }), axis: 0)
    }

    /// - Parameters:
    ///   - logits: [N, V]
    ///   - segments: N of them, each with a sample request or one that holds its row.
    ///   - state: Evaluated in the same go.
    private func draw(
        _ logits: MLXArray, _ segments: [Segment], with state: [MLXArray], _ error: ErrorBox
    ) throws -> [SegmentOutcome] {
        let positions = segments.map { $0.position + $0.tokens.count }
        let wide = logits.asType(.float32)
        eval(state + [wide])
        try error.check()
        let rows = copyRows(wide)
        return zip(segments.indices, rows).map { index, row in
            let segment = segments[index]
            guard let request = segment.sample else {
                sequences[segment.sequence]?.held = row
                return .held
            }
            guard let token = Sampler.draw(row, request, position: positions[index]) else {
                return .failed(unsound(at: positions[index]))
            }
            return .sampled(token)
        }
    }

    /// The rows of an evaluated [N, V] float32, each copied once.
    private func copyRows(_ logits: MLXArray) -> [[Float]] {
        let width = description.vocabularySize
        return withExtendedLifetime(logits) {
            logits.asData(access: .noCopyIfContiguous).data.withUnsafeBytes { bytes in
                let all = bytes.bindMemory(to: Float.self)
                return stride(from: 0, to: all.count, by: width).map { Array(all[$0..<min($0 + width, all.count)]) }
            }
        }
    }

    func draw(_ draws: [HeldDraw]) throws -> [SegmentOutcome] {
        draws.map { draw in
            guard let sequence = sequences[draw.sequence], let row = sequence.held else {
                return .failed(EngineError(.argument, "sequence \(draw.sequence.rawValue) holds no logits"))
            }
            let token: SampledToken?
            switch draw.choice {
            case .free: token = Sampler.draw(row, draw.sample, position: sequence.count)
            case .mask(let words):
                token = Sampler.draw(row, draw.sample, position: sequence.count, allowed: words)
            case .force(let id): token = Sampler.force(id, row, draw.sample)
            }
            if let token { return .sampled(token) }
            guard case .mask = draw.choice else { return .failed(unsound(at: sequence.count)) }
            return .failed(nothingLeft(at: sequence.count))
        }
    }

    private func nothingLeft(at position: Int) -> EngineError {
        EngineError(
            .internal,
            "no token that the mask for position \(position) allows has a finite logit; a logit bias may forbid them, or "
                + "the weights are damaged")
    }

    /// - Parameters:
    ///   - best: [N, 2], of a graph's `best`.
    ///   - segments: N of them.
    ///   - state: Evaluated in the same go.
    private func pickBest(
        _ best: MLXArray, _ segments: [Segment], with state: [MLXArray], _ error: ErrorBox
    ) throws -> [SegmentOutcome] {
        eval(state + [best])
        try error.check()
        let words = best.asArray(UInt32.self)
        return segments.enumerated().map { index, segment in
            let (token, logit) = (words[2 * index], Float(bitPattern: words[2 * index + 1]))
            return logit.isFinite
                ? .sampled(SampledToken(token: Int32(token)))
                : .failed(unsound(at: segment.position + segment.tokens.count))
        }
    }

    private func unsound(at position: Int) -> EngineError {
        EngineError(.internal, "the logits for position \(position) are not finite; the weights may be damaged")
    }
}
