// Compiled functions: MLX traces a function once and may fuse its ops. On the CPU, MLX fuses by running a C++ compiler,
// which serving machines don't have: there a compiled function simply calls the function. Results agree up to the
// rounding of intermediate values in 16-bit types, which fusion leaves out.
import CMLX

/// A function that MLX keeps traced. The arrays of `inputs` and `outputs` are parameters and results behind its back.
final class CompiledFunction: @unchecked Sendable {
    private let function: ([MLXArray]) -> [MLXArray]
    private let inputs: [any Updatable]
    private let outputs: [any Updatable]
    private let shapeless: Bool
    private let fused: Bool
    private let lock = Lock()

    /// `fused`: let MLX fuse; the default is whether the function runs on a GPU.
    init(
        inputs: [any Updatable], outputs: [any Updatable], shapeless: Bool,
        fused: Bool = Device.defaultDevice() == .gpu, _ function: @escaping ([MLXArray]) -> [MLXArray]
    ) {
        self.function = function
        self.inputs = inputs
        self.outputs = outputs
        self.shapeless = shapeless
        self.fused = fused
    }

    deinit {
        if fused { cmlx_compiled_erase(id) }
    }

    /// What MLX keeps the trace under.
    private var id: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    /// Calls the function, tracing it first where MLX has not seen these shapes and types.
    func call(_ arguments: [MLXArray]) -> [MLXArray] {
        guard fused else { return function(arguments) }
        return lock.withLock { evalLock.withLock { tracedCall(arguments) } }
    }

    private func tracedCall(_ arguments: [MLXArray]) -> [MLXArray] {
        let state = inputs.flatMap { $0.innerState() }
        let trace = Trace { [self] tracers in
            let saved = state.map { $0.copyContext() }
            for (array, tracer) in zip(state, tracers.dropFirst(arguments.count)) { array._updateInternal(tracer) }
            let results = function(Array(tracers.prefix(arguments.count)))
            let changed = outputs.flatMap { $0.innerState() }.map { $0.copyContext() }
            for (array, value) in zip(state, saved) { array._updateInternal(value) }
            return results + changed
        }
        let parameters = arguments + state
        let values = withExtendedLifetime((trace, parameters)) {
            arrays(
                cmlx_compiled_call(
                    id, shapeless, { Trace.run($0, $1, $2) }, Unmanaged.passUnretained(trace).toOpaque(),
                    parameters.handles, parameters.count))
        }
        let changed = outputs.flatMap { $0.innerState() }
        guard values.count >= changed.count else { return [] }
        for (array, value) in zip(changed, values.suffix(changed.count)) { array._updateInternal(value) }
        return Array(values.dropLast(changed.count))
    }

    /// The one result of a function with one.
    func callOne(_ arguments: [MLXArray]) -> MLXArray {
        call(arguments).first ?? .mlxNone
    }
}

/// What the C side calls to trace a function.
private final class Trace {
    private let body: ([MLXArray]) -> [MLXArray]

    init(_ body: @escaping ([MLXArray]) -> [MLXArray]) {
        self.body = body
    }

    static func run(
        _ context: UnsafeMutableRawPointer?, _ tracers: UnsafePointer<OpaquePointer?>?, _ count: Int
    ) -> OpaquePointer? {
        guard let context, let tracers else { return nil }
        let trace = Unmanaged<Trace>.fromOpaque(context).takeUnretainedValue()
        let results = trace.body((0 ..< count).map { MLXArray(cmlx_array_retain(tracers[$0])) })
        return withExtendedLifetime(results) { cmlx_list_new(results.handles, results.count) }
    }
}

/// The function, compiled. `shapeless`: a trace also serves other shapes.
public func compile(
    inputs: [any Updatable] = [], outputs: [any Updatable] = [], shapeless: Bool = false,
    _ f: @escaping ([MLXArray]) -> [MLXArray]
) -> @Sendable ([MLXArray]) -> [MLXArray] {
    let compiled = CompiledFunction(inputs: inputs, outputs: outputs, shapeless: shapeless, f)
    return { compiled.call($0) }
}

/// The function, compiled. `shapeless`: a trace also serves other shapes.
public func compile(
    inputs: [any Updatable] = [], outputs: [any Updatable] = [], shapeless: Bool = false,
    _ f: @escaping (MLXArray) -> MLXArray
) -> @Sendable (MLXArray) -> MLXArray {
    let compiled = CompiledFunction(inputs: inputs, outputs: outputs, shapeless: shapeless) { [f($0[0])] }
    return { compiled.callOne([$0]) }
}

/// The function, compiled. `shapeless`: a trace also serves other shapes.
public func compile(
    inputs: [any Updatable] = [], outputs: [any Updatable] = [], shapeless: Bool = false,
    _ f: @escaping (MLXArray, MLXArray) -> MLXArray
)
    -> @Sendable (MLXArray, MLXArray) -> MLXArray
{
    let compiled = CompiledFunction(inputs: inputs, outputs: outputs, shapeless: shapeless) { [f($0[0], $0[1])] }
    return { compiled.callOne([$0, $1]) }
}

/// The function, compiled. `shapeless`: a trace also serves other shapes.
public func compile(
    inputs: [any Updatable] = [], outputs: [any Updatable] = [], shapeless: Bool = false,
    _ f: @Sendable @escaping (MLXArray, MLXArray, MLXArray) -> MLXArray
)
    -> @Sendable (MLXArray, MLXArray, MLXArray) -> MLXArray
{
    let compiled = CompiledFunction(inputs: inputs, outputs: outputs, shapeless: shapeless) {
        [f($0[0], $0[1], $0[2])]
    }
    return { compiled.callOne([$0, $1, $2]) }
}

/// Lets MLX fuse compiled functions, or not.
public func compile(enable: Bool = true) {
    cmlx_set_compile_enabled(enable)
}
