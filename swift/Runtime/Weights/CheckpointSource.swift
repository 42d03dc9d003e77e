/// Answers a graph's declarations from file headers, then fills the parameters.
///
/// Two phases: while the graph is built, every declaration is checked and noted; `requireNoSurplus` then looks the
/// other way round; `fill` reads. An error in the first two leaves nothing behind. Pricing a model stops after them and
/// never touches MLX.

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Kernels
import Layers
import MLX

/// Parameters of one graph out of one checkpoint.
final class CheckpointSource: ParameterSource {
    private let checkpoint: Checkpoint
    private let settings: QuantizationSettings
    private let floats: FloatPolicy
    private var declared: [(parameter: Parameter, tensor: Checkpoint.Tensor)] = []
    private var names: Set<String> = []
    private var floatType: TensorType?
    private var quantizations: [Quantization: Int] = [:]

    /// Declares nothing yet.
    init(_ checkpoint: Checkpoint, floats: FloatPolicy) throws {
        self.checkpoint = checkpoint
        self.floats = floats
        settings = try QuantizationSettings(checkpoint.config)
    }

    /// Dtype of activations, norms and biases.
    var activationType: TensorType { floats == .checkpoint ? floatType ?? .f32 : .f32 }

    /// Dtype of keys and values: float32 in exact arithmetic on a CPU, where nothing but the weights is rounded.
    var cacheType: TensorType {
        let exact = floats == .float32 || (floats == .wideActivations && !Processor.roundsActivations)
        return exact ? .f32 : floatType ?? .f32
    }

    var activations: DType { activationType.mlx }

    /// Bytes that the parameters take once loaded.
    var weightBytes: Int {
        declared.reduce(0) { sum, item in
            let entry = item.tensor.entry
            return sum + entry.range.count / entry.type.size * loadedType(item.parameter, entry.type).size
        }
    }

    /// For a checkpoint whose embedding holds no floats: the dtype of what does.
    private var firstFloatType: TensorType? {
        checkpoint.tensors.filter { TensorType.floats.contains($0.value.entry.type) }
            .min { $0.key < $1.key }?.value.entry.type
    }

    private func loadedType(_ parameter: Parameter, _ stored: TensorType) -> TensorType {
        switch parameter.kind {
        case .packed, .exponents: stored
        case .vector: activationType
        case .matrix, .scales: floats == .wideActivations ? stored : activationType
        }
    }

    /// The most frequent quantization and whether there are others, e.g. `4-bit g64 affine, mixed`; `none` without any.
    var quantization: String {
        let ordered = quantizations.sorted { ($1.value, $0.key.bits) < ($0.value, $1.key.bits) }
        guard let first = ordered.first else { return "none" }
        return first.key.description + (ordered.count > 1 ? ", mixed" : "")
    }

    func quantization(of path: String) throws -> Quantization? {
        let decided = try settings.decide(path, hasScales: checkpoint.tensors["\(path).scales"] != nil)
        if let decided { quantizations[decided, default: 0] += 1 }
        return decided
    }

    func parameter(_ name: String, shape: [Int], kind: Parameter.Kind) throws -> Parameter {
        guard let tensor = checkpoint.tensors[name] else {
            throw CheckpointError(.model, "tensor \(name) is missing; wanted shape \(shape)")
        }
        let place = "\(tensor.file.name): tensor \(name)"
        guard tensor.entry.shape == shape else {
            throw CheckpointError(.model, "\(place) has shape \(tensor.entry.shape); wanted \(shape)")
        }
        let type = tensor.entry.type
        switch kind {
        case .packed:
            guard type == .u32 else {
                throw CheckpointError(.model, "\(place) has dtype \(type.rawValue); wanted U32")
            }
        case .exponents:
            guard type == .u8 else {
                throw CheckpointError(.model, "\(place) has dtype \(type.rawValue); wanted U8")
            }
            floatType = floatType ?? firstFloatType
        case .matrix, .scales, .vector:
            guard TensorType.floats.contains(type) else {
                throw CheckpointError(.model, "\(place) has dtype \(type.rawValue); wanted F16, BF16 or F32")
            }
            floatType = floatType ?? type
        }
        let parameter = Parameter(name, shape: shape, kind: kind)
        declared.append((parameter, tensor))
        names.insert(name)
        return parameter
    }

    /// - Throws: When the files hold tensors that the graph neither wants nor knows to be useless.
    func requireNoSurplus(_ ignores: (String) -> Bool) throws {
        let surplus = checkpoint.tensors.keys.filter { !names.contains($0) && !ignores($0) }.sorted()
        guard let first = surplus.first else { return }
        let file = checkpoint.tensors[first]?.file.name ?? ""
        let more = surplus.count > 1 ? ", and \(surplus.count - 1) more," : ""
        throw CheckpointError(.model, "\(file): tensor \(first)\(more) has no place in this model")
    }

    /// Loads every declared tensor; converts those whose dtype differs from the stored one, one at a time.
    /// - Parameter progress: Takes per mille of bytes read.
    func fill(_ progress: (Int) -> Void) throws {
        let total = max(declared.reduce(0) { $0 + $1.tensor.entry.range.count }, 1)
        var done = 0
        var shown = -1
        for (parameter, tensor) in declared {
            parameter.fill(try load(parameter, tensor))
            done += tensor.entry.range.count
            let perMille = Int(Double(done) / Double(total) * 1000)
            if perMille > shown {
                shown = perMille
                progress(perMille)
            }
        }
    }

    /// The files that parameters lie in.
    var mappings: [MappedFile] {
        Dictionary(declared.map { ($0.tensor.file.name, $0.tensor.file) }) { first, _ in first }.values
            .compactMap(\.mapping)
    }

    private func load(_ parameter: Parameter, _ tensor: Checkpoint.Tensor) throws -> MLXArray {
        let (stored, wanted) = (tensor.entry.type, loadedType(parameter, tensor.entry.type))
        return try withError { error in
            // What is used as it is stored stays in the file. A GPU wants pages that begin with the tensor.
            if stored == wanted, Device.defaultDevice().deviceType == .cpu,
                let (bytes, owner) = try tensor.file.lend(tensor.entry)
            {
                try requireFinite(bytes, parameter, tensor)
                return MLXArray(
                    rawPointer: bytes, parameter.shape, dtype: stored.mlx,
                    finalizer: { withExtendedLifetime(owner) {} })
            }
            let memory = try tensor.file.readOwned(tensor.entry)
            do {
                try requireFinite(memory, parameter, tensor)
            } catch {
                free(memory)
                throw error
            }
            let array = MLXArray(
                rawPointer: memory, parameter.shape, dtype: stored.mlx, finalizer: { free(memory) })
            try error.check()
            let loaded = array.asType(wanted.mlx)
            eval(loaded)
            return loaded
        }
    }
}

/// One number of these would spoil a whole row of every answer. Codes can't, and dense matrices are not read for it.
/// - Throws: `CheckpointError` that names the tensor and the place of the first number that is not finite.
private func requireFinite(
    _ bytes: UnsafeRawPointer, _ parameter: Parameter, _ tensor: Checkpoint.Tensor
) throws {
    switch parameter.kind {
    case .matrix, .packed: return
    case .scales, .exponents, .vector: break
    }
    guard let index = FiniteNumbers.firstUnsound(bytes, bytes: tensor.entry.range.count, type: tensor.entry.type)
    else { return }
    throw CheckpointError(
        .format, "\(tensor.file.name): tensor \(parameter.name) has a NaN or an infinity at element \(index) of shape "
            + "\(parameter.shape); wanted finite numbers")
}

extension TensorType {
    /// Those that parameters may have.
    static let floats: [TensorType] = [.f16, .bf16, .f32]

    /// The MLX dtype of those that parameters may have; uint8 for the rest, which never get this far.
    var mlx: DType {
        switch self {
        case .f16: .float16
        case .bf16: .bfloat16
        case .f32: .float32
        case .u32: .uint32
        default: .uint8
        }
    }
}
