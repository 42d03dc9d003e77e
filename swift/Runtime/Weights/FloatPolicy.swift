/// In which float types a model computes and is kept.

import Engine
import MLX

/// Which float types a loaded model uses.
enum FloatPolicy {
    /// Everything is widened to float32, caches included: parity with a float32 reference.
    case float32
    /// Activations in float32; matrices, and in fast arithmetic caches, in the checkpoint's dtype. For CPUs: they
    /// compute in float32 anyway, so rounding every activation would cost time and digits.
    case wideActivations
    /// Everything in the checkpoint's dtype, as on GPUs.
    case checkpoint

    /// What options and the default device ask for.
    static func choose(_ options: ModelOptions) -> FloatPolicy {
        if options.float32 { return .float32 }
        return Device.defaultDevice().deviceType == .cpu ? .wideActivations : .checkpoint
    }
}
