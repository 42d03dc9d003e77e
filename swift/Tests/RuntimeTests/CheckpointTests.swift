/// Checkpoint directories: what loads, and what is refused with a sentence that names the culprit.

import Engine
import Foundation
import Testing

@testable import Runtime

private func load(_ folder: ScratchDirectory) throws {
    _ = try CheckpointLoader().load(path: folder.url.path, options: ModelOptions(), progress: { _ in })
}

private func estimate(_ folder: ScratchDirectory, context: Int? = nil) throws {
    var options = ModelOptions()
    options.contextTokens = context
    _ = try CheckpointLoader().estimate(path: folder.url.path, options: options)
}

extension RuntimeTests {
    @Suite("Checkpoint") struct CheckpointTests {
        @Test("The estimate is what a load takes, and progress ends at 1000")
        func estimateAndProgress() throws {
            let path = tinyCheckpoint("llama-mixed")
            let loader = CheckpointLoader()
            let estimate = try loader.estimate(path: path, options: ModelOptions())
            var progress: [Int] = []
            let runner = try loader.load(path: path, options: ModelOptions(), progress: { progress.append($0) })
            #expect(runner.description.weightBytes == estimate.weightBytes)
            #expect(runner.description.kvBytesPerToken == estimate.kvBytesPerToken)
            // 2 layers of K and V, 2 heads of 16 float32.
            #expect(estimate.kvBytesPerToken == 2 * 2 * 2 * 16 * 4)
            #expect(progress.first == 0 && progress.last == 1000 && progress == progress.sorted())
            #expect(runner.description.quantization == "4-bit g64 affine, mixed")
        }

        @Test("Shards with an index are one model with the same tokens")
        func shards() throws {
            let folder = try ScratchDirectory(copyOf: "llama-plain")
            let all = try tensors(of: "llama-plain")
            try FileManager.default.removeItem(at: folder.url.appendingPathComponent("model.safetensors"))
            var map: [String: String] = [:]
            for part in 0..<2 {
                let name = "model-0000\(part + 1)-of-00002.safetensors"
                var shard = SafetensorsWriter()
                shard.tensors = all.tensors.enumerated().filter { $0.offset % 2 == part }.map(\.element)
                for (tensor, _) in shard.tensors { map[tensor] = name }
                try folder.write(name, shard.data())
            }
            let index = try JSONSerialization.data(withJSONObject: ["metadata": [:], "weight_map": map])
            try folder.write("model.safetensors.index.json", index)
            let segment = Segment(
                sequence: SequenceID(1), tokens: [1, 2, 3], position: 0,
                sample: SampleRequest(parameters: SamplingParameters()))
            let tokens = try [folder.url.path, tinyCheckpoint("llama-plain")].map { path in
                let runner = try loadFloat32(path)
                try runner.open(segment.sequence, capacityTokens: 8)
                guard case .sampled(let token) = try runner.step([segment])[0] else { return Int32(-1) }
                return token.token
            }
            #expect(tokens[0] == tokens[1] && tokens[0] >= 0)

            try FileManager.default.removeItem(
                at: folder.url.appendingPathComponent("model-00002-of-00002.safetensors"))
            let missing = try #require(refusal { try load(folder) })
            #expect(missing.code == .io && missing.message.contains("model-00002-of-00002.safetensors is missing"))
        }

        @Test("A directory without its parts is refused by what is missing")
        func missingFiles() throws {
            let folder = try ScratchDirectory()
            #expect(refusal { try load(folder) }?.message.contains("config.json") == true)
            try folder.write("config.json", "{}")
            #expect(refusal { try load(folder) }?.message.contains("no model*.safetensors") == true)
            let nowhere = refusal {
                _ = try CheckpointLoader().load(path: "/nonexistent", options: ModelOptions(), progress: { _ in })
            }
            #expect(nowhere?.code == .io && nowhere?.message.contains("/nonexistent") == true)
        }

        @Test("Missing, surplus, misshapen and mistyped tensors are named with what was wanted")
        func wrongTensors() throws {
            let name = "model.layers.1.mlp.up_proj.weight"
            let sound = try tensors(of: "llama-plain")
            func error(_ change: (inout SafetensorsWriter) -> Void) throws -> EngineError? {
                let folder = try ScratchDirectory(copyOf: "llama-plain")
                var writer = sound
                change(&writer)
                try folder.write("model.safetensors", writer.data())
                return refusal { try load(folder) }
            }
            #expect(try error { _ in } == nil)
            let missing = try error { $0.tensors.removeAll { $0.name == name } }
            #expect(
                missing?.code == .model
                    && missing?.message.contains("\(name) is missing; wanted shape [128, 64]") == true)
            let surplus = try error { $0.tensors.append(("model.extra.weight", .init(shape: [1]))) }
            #expect(surplus?.message.contains("tensor model.extra.weight has no place") == true)
            let shape = try error { writer in
                writer.tensors = writer.tensors.map { $0.name == name ? (name, .init(shape: [64, 128])) : $0 }
            }
            #expect(shape?.message.contains("\(name) has shape [64, 128]; wanted [128, 64]") == true)
            let type = try error { writer in
                writer.tensors = writer.tensors.map {
                    $0.name == name ? (name, .init(type: "I32", shape: [128, 64])) : $0
                }
            }
            #expect(type?.message.contains("\(name) has dtype I32; wanted F16, BF16 or F32") == true)
            let useless = try error {
                $0.tensors.append(("model.layers.0.self_attn.rotary_emb.inv_freq", .init(shape: [8])))
                $0.tensors.append(("lm_head.weight", .init(shape: [128, 64])))
            }
            #expect(useless == nil)
        }

        @Test("A truncated weight file is refused before anything is read")
        func truncatedWeights() throws {
            let folder = try ScratchDirectory(copyOf: "qwen3-4bit-g64")
            let whole = try Data(contentsOf: folder.url.appendingPathComponent("model.safetensors"))
            try folder.write("model.safetensors", whole.prefix(whole.count / 2))
            let error = try #require(refusal { try load(folder) })
            #expect(error.code == .format && error.message.contains("model.safetensors"))
        }

        @Test("An unknown model_type is refused with the list of known ones")
        func unknownType() throws {
            let error = try #require(
                refusal { try load(ScratchDirectory(copyOf: "llama-plain", config: ["model_type": "gpt5"])) })
            #expect(error.code == .model)
            #expect(error.message == "config.json: model_type \"gpt5\" has no graph; known are llama, mistral, qwen3")
        }

        @Test(
            "A setting that we don't run is refused by name",
            arguments: [
                ("rope_scaling", #"{"rope_type": "longrope"}"#, "longrope"),
                ("rope_scaling", #"{"rope_type": "dynamic", "factor": 2}"#, "dynamic"),
                ("hidden_act", #""gelu""#, "hidden_act is \"gelu\""),
                ("sliding_window", "512", "sliding_window is 512"),
                ("layer_types", #"["full_attention", "sliding_attention"]"#, "layer_types"),
                ("partial_rotary_factor", "0.5", "partial_rotary_factor"),
                ("quantization", #"{"group_size": 16, "bits": 4, "mode": "nvfp4"}"#, "mode \"nvfp4\""),
                ("quantization", #"{"group_size": 64, "bits": 4, "mode": "mxfp4"}"#, "wants 4 and 32"),
                ("quantization", #"{"group_size": 32, "bits": 4, "mode": "mxfp8"}"#, "wants 8 and 32"),
                ("quantization", #"{"group_size": 16, "bits": 4}"#, "group_size is 16"),
                ("quantization", #"{"group_size": 64, "bits": 7}"#, "bits is 7"),
                ("quantization_config", #"{"quant_method": "gptq", "bits": 4}"#, "quant_method \"gptq\""),
            ])
        func unsupported(key: String, value: String, reason: String) throws {
            let parsed = try JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
            let folder = try ScratchDirectory(copyOf: "llama-plain", config: [key: parsed])
            let error = try #require(refusal { try load(folder) })
            #expect(error.code == .model && error.message.contains(reason), "\(error.message)")
        }

        @Test("A window that the asked context fits into is no obstacle")
        func window() throws {
            let folder = try ScratchDirectory(copyOf: "mistral-plain", config: ["sliding_window": 512])
            #expect(refusal { try estimate(folder) } != nil)
            #expect(refusal { try estimate(folder, context: 512) } == nil)
        }

        @Test(
            "A number that makes no sense is refused with its key",
            arguments: [
                ("hidden_size", "0"), ("hidden_size", "9223372036854775807"), ("hidden_size", "-64"),
                ("hidden_size", "64.5"), ("hidden_size", #""64""#), ("num_hidden_layers", "100000"),
                ("num_attention_heads", "0"), ("num_attention_heads", "3"), ("num_key_value_heads", "3"),
                ("num_key_value_heads", "0"), ("vocab_size", "1e300"), ("rms_norm_eps", "-1"), ("rope_theta", "0"),
                ("head_dim", "15"), ("head_dim", "1"), ("max_position_embeddings", "0"), ("tie_word_embeddings", "1"),
                ("intermediate_size", "null"), ("rope_scaling", "[]"), ("rope_scaling", #"{"type":"linear"}"#),
            ])
        func senseless(key: String, value: String) throws {
            let folder = try ScratchDirectory(copyOf: "llama-plain")
            let text = try String(contentsOf: folder.url.appendingPathComponent("config.json"), encoding: .utf8)
            var members = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            members[key] = nil
            let rest = String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self).dropFirst()
            try folder.write("config.json", "{\"\(key)\":\(value),\(rest)")
            let error = try #require(refusal { try load(folder) })
            #expect(error.code == .model && error.message.contains(key), "\(error.message)")
        }

        @Test("2,000 seeded mutations of config.json are each accepted or refused")
        func mutatedConfigs() throws {
            var generator = SeededGenerator(seed: 11)
            for checkpoint in ["llama-mixed", "qwen3-plain"] {
                let folder = try ScratchDirectory(
                    copyOf: checkpoint, config: ["rope_scaling": ["rope_type": "yarn", "factor": 4]])
                let sound = try Data(contentsOf: folder.url.appendingPathComponent("config.json"))
                #expect(refusal { try estimate(folder) } == nil)
                for _ in 0..<1000 {
                    try folder.write("config.json", mutated(sound, &generator))
                    if let error = refusal({ try estimate(folder) }) { #expect(!error.message.isEmpty) }
                }
            }
        }

        @Test("100 seeded mutations of a whole weight file load and step, or are refused")
        func mutatedWeights() throws {
            var generator = SeededGenerator(seed: 13)
            let folder = try ScratchDirectory(copyOf: "llama-4bit-g64")
            let sound = try Data(contentsOf: folder.url.appendingPathComponent("model.safetensors"))
            let headerBytes = 8 + Int(sound.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
            for _ in 0..<100 {
                // The header and a little of the data; most of the bytes are weights, which may hold anything.
                let part = mutated(sound.prefix(headerBytes + 64), &generator)
                try folder.write("model.safetensors", part + sound.dropFirst(headerBytes + 64))
                guard let runner = try? loadFloat32(folder.url.path) else { continue }
                try runner.open(SequenceID(1), capacityTokens: 4)
                let sample = SampleRequest(parameters: SamplingParameters())
                let segment = Segment(sequence: SequenceID(1), tokens: [5, 6], position: 0, sample: sample)
                #expect(try runner.step([segment]).count == 1)
            }
        }
    }
}
