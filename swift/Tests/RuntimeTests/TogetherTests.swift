/// The exactness contract through the step runner: together = alone, chunked = whole, in any mixture.
///
/// Equality of tokens *and* of probabilities, bit for bit: a tolerance would hide what the contract promises.

import Engine
import Foundation
import MLX
import Testing

@testable import Runtime

/// One request of a script.
private struct Job {
    let id: SequenceID
    let prompt: [Int32]
    let parameters: SamplingParameters
    let steps: Int
}

/// Prompts of 1 to 70 tokens, half greedy, half seeded, all with log probabilities.
private func jobs(_ count: Int) -> [Job] {
    var generator = SeededGenerator(seed: 5)
    return (0..<count).map { index in
        var parameters = SamplingParameters()
        parameters.logprobsTop = 2
        if index % 2 == 1 {
            parameters.temperature = 0.9
            parameters.seed = UInt64(index)
            parameters.topP = index % 4 == 1 ? 0.95 : 1
            parameters.repetitionPenalty = index % 8 == 3 ? 1.2 : 1
        }
        let length = Int.random(in: 1...70, using: &generator)
        let prompt = (0..<length).map { _ in Int32.random(in: 0..<128, using: &generator) }
        return Job(id: SequenceID(UInt32(index + 1)), prompt: prompt, parameters: parameters, steps: 12)
    }
}

/// A job in flight.
private struct Running {
    let job: Job
    var drawn: [SampledToken] = []
    var done = 0

    /// The next segment, a chunk of at most `chunk` rows.
    func segment(chunk: Int) -> Segment {
        let tokens = job.prompt + drawn.map(\.token)
        let end = min(tokens.count, done + chunk)
        let sample = SampleRequest(
            parameters: job.parameters, history: tokens, completionStart: job.prompt.count)
        return Segment(
            sequence: job.id, tokens: Array(tokens[done..<end]), position: done,
            sample: end == tokens.count ? sample : nil)
    }
}

/// Runs all jobs in shared steps.
/// - Parameter chunk: Prefill rows a step for a job.
private func run(_ jobs: [Job], on runner: any StepRunner, chunk: (Int) -> Int) throws -> [[SampledToken]] {
    var all = jobs.map { Running(job: $0) }
    for job in jobs { try runner.open(job.id, capacityTokens: job.prompt.count + job.steps) }
    defer { for job in jobs { runner.close(job.id) } }
    var round = 0
    while true {
        let live = all.indices.filter { all[$0].drawn.count < all[$0].job.steps }
        guard !live.isEmpty else { return all.map(\.drawn) }
        let segments = live.map { all[$0].segment(chunk: chunk(round)) }
        for (index, (segment, outcome)) in zip(live, zip(segments, try runner.step(segments))) {
            all[index].done += segment.tokens.count
            switch outcome {
            case .advanced: #expect(segment.sample == nil)
            case .held: Issue.record("a segment held its logits unasked")
            case .sampled(let token): all[index].drawn.append(token)
            case .failed(let error): throw error
            }
        }
        round += 1
    }
}

extension RuntimeTests {
    @Suite("Together = alone") struct TogetherTests {
        static let checkpoints = ["llama-plain", "llama-4bit-g32", "mistral-8bit-g64", "qwen3-mixed", "qwen3-plain"]

        @Test("16 sequences in shared steps draw what each draws alone", arguments: checkpoints)
        func together(_ checkpoint: String) throws {
            let runner = try loadFloat32(tinyCheckpoint(checkpoint))
            let alone = try jobs(16).map { try run([$0], on: runner, chunk: { _ in 512 })[0] }
            let shared = try run(jobs(16), on: runner, chunk: { _ in 512 })
            #expect(shared == alone)
        }

        @Test("16 sequences on SmolLM2, as it is served, draw what each draws alone, whole or in chunks")
        func smolLM2() throws {
            let runner = try CheckpointLoader().load(
                path: requireSmolLM2(), options: ModelOptions(), progress: { _ in })
            let alone = try jobs(16).map { try run([$0], on: runner, chunk: { _ in 512 })[0] }
            #expect(try run(jobs(16), on: runner, chunk: { _ in 512 }) == alone)
            #expect(try run(jobs(16), on: runner, chunk: { [1, 20, 3][$0 % 3] }) == alone)
        }

        @Test("A prompt in chunks of any size draws what it draws whole", arguments: checkpoints)
        func chunked(_ checkpoint: String) throws {
            let runner = try loadFloat32(tinyCheckpoint(checkpoint))
            for job in jobs(6) {
                let whole = try run([job], on: runner, chunk: { _ in 512 })
                for chunk in [1, 3, 16, 33] { #expect(try run([job], on: runner, chunk: { _ in chunk }) == whole) }
            }
        }

        @Test("Chunks of changing size beside the decoding of others change nothing")
        func mixture() throws {
            let runner = try loadFloat32(tinyCheckpoint("llama-4bit-g64"))
            let alone = try jobs(9).map { try run([$0], on: runner, chunk: { _ in 512 })[0] }
            #expect(try run(jobs(9), on: runner, chunk: { [1, 7, 2, 31][$0 % 4] }) == alone)
        }

        #if os(Linux)
            @Test("The check at load finds on our CPU kernels what these tests demand", arguments: checkpoints)
            func probe(_ checkpoint: String) throws {
                guard Device.defaultDevice().deviceType == .cpu else { return }
                let runner = try CheckpointLoader().load(
                    path: tinyCheckpoint(checkpoint), options: ModelOptions(), progress: { _ in })
                #expect(runner.description.exactness == .full)
            }
        #endif

        @Test(
            "16-bit checkpoints in their own dtype keep the contract too",
            arguments: [("qwen3-4bit-g32", "BF16"), ("llama-mixed", "F16"), ("mistral-plain", "BF16")])
        func ownDtype(_ checkpoint: String, _ half: String) throws {
            let folder = try ScratchDirectory(copyOf: checkpoint)
            try folder.write("model.safetensors", tensors(of: checkpoint, half: half).data())
            let runner = try CheckpointLoader().load(
                path: folder.url.path, options: ModelOptions(), progress: { _ in })
            // 2 layers of K and V, 2 heads; on a CPU exact arithmetic keeps float32.
            let bytes = Device.defaultDevice().deviceType == .cpu ? 4 : 2
            let head = checkpoint.hasPrefix("qwen3") ? 32 : 16
            #expect(runner.description.kvBytesPerToken == 2 * 2 * 2 * bytes * head)
            let alone = try jobs(8).map { try run([$0], on: runner, chunk: { _ in 512 })[0] }
            #expect(try run(jobs(8), on: runner, chunk: { _ in 5 }) == alone)
        }
    }
}

extension RuntimeTests {
    @Suite("Step runner") struct StepRunnerTests {
        private let sample = SampleRequest(parameters: SamplingParameters())

        @Test("A segment that can't run fails alone, with a reason, and the others go on")
        func refusals() throws {
            let runner = try loadFloat32(tinyCheckpoint("llama-4bit-g64"))
            for id in 1...4 { try runner.open(SequenceID(UInt32(id)), capacityTokens: 4) }
            let outcomes = try runner.step([
                Segment(sequence: SequenceID(1), tokens: [1, 2], position: 0, sample: sample),
                Segment(sequence: SequenceID(9), tokens: [1], position: 0, sample: sample),
                Segment(sequence: SequenceID(2), tokens: [1], position: 3, sample: sample),
                Segment(sequence: SequenceID(3), tokens: [1, 2, 3, 4, 5], position: 0, sample: sample),
                Segment(sequence: SequenceID(4), tokens: [128], position: 0, sample: sample),
                Segment(sequence: SequenceID(1), tokens: [3], position: 2, sample: sample),
            ])
            let reasons = outcomes.map { outcome -> String in
                switch outcome {
                case .failed(let error): error.message
                case .sampled: "sampled"
                case .advanced, .held: "advanced"
                }
            }
            #expect(reasons[0] == "sampled")
            for (reason, part) in zip(reasons[1...], ["not open", "position 3", "pass the 4", "token 128", "twice"]) {
                #expect(reason.contains(part), "\(reason)")
            }
            // Sequence 1 is where its two rows left it.
            let next = try runner.step([Segment(sequence: SequenceID(1), tokens: [3], position: 2, sample: nil)])
            guard case .advanced = next[0] else { throw EngineError(.internal, "not advanced") }
        }

        @Test("A cache has a sane capacity, opens once, and closing an unknown sequence is no error")
        func opening() throws {
            let runner = try loadFloat32(tinyCheckpoint("llama-4bit-g64"))
            #expect(throws: EngineError.self) { try runner.open(SequenceID(1), capacityTokens: 0) }
            #expect(throws: EngineError.self) { try runner.open(SequenceID(1), capacityTokens: 2049) }
            try runner.open(SequenceID(1), capacityTokens: 2048)
            #expect(throws: EngineError.self) { try runner.open(SequenceID(1), capacityTokens: 8) }
            runner.close(SequenceID(77))
            runner.close(SequenceID(1))
            try runner.open(SequenceID(1), capacityTokens: 8)
        }

        @Test("A step updates its caches in place: its peak stays under the size of one of them")
        func inPlace() throws {
            let runner = try loadFloat32(tinyCheckpoint("llama-4bit-g64"))
            let capacity = 2048
            try runner.open(SequenceID(1), capacityTokens: capacity)
            let prompt = [Int32](repeating: 1, count: capacity - 40)
            _ = try runner.step([Segment(sequence: SequenceID(1), tokens: prompt, position: 0, sample: nil)])
            func decode(at position: Int) throws {
                let segment = Segment(sequence: SequenceID(1), tokens: [2], position: position, sample: sample)
                _ = try runner.step([segment])
            }
            // The first step may grow the arrays; the others have room.
            try decode(at: prompt.count)
            MLX.Memory.peakMemory = 0
            let before = MLX.Memory.activeMemory
            for position in (prompt.count + 1)..<capacity { try decode(at: position) }
            // K or V of one layer: 2 heads of 16 float32.
            #expect(MLX.Memory.peakMemory - before < capacity * 2 * 16 * 4)
            #expect(before > 4 * prompt.count * 2 * 16 * 4, "the allocator counts the caches")
        }

        @Test("Greedy on the device and greedy over a copied row agree")
        func twoPaths() throws {
            let runner = try loadFloat32(tinyCheckpoint("mistral-plain"))
            var withLogprobs = SamplingParameters()
            withLogprobs.logprobsTop = 0
            var drawn: [Int32] = []
            for (id, parameters) in [(UInt32(1), SamplingParameters()), (2, withLogprobs)] {
                try runner.open(SequenceID(id), capacityTokens: 40)
                let segment = Segment(
                    sequence: SequenceID(id), tokens: [9, 8, 7], position: 0,
                    sample: SampleRequest(parameters: parameters))
                guard case .sampled(let token) = try runner.step([segment])[0] else { continue }
                drawn.append(token.token)
            }
            #expect(drawn.count == 2 && drawn[0] == drawn[1])
        }
    }
}
