/// The noise that makes sampling a pure function of (seed, position, token, logits).
///
/// A token at absolute position p is the argmax over the candidates of logit / T + G(seed, p, id), with G a Gumbel
/// variable of a counter-based uniform; the argmax is then distributed as softmax(logits / T). No state is carried from
/// token to token, so a draft, a batch and a resumed request draw the same token.
///
/// Source: keyed Gumbel-max sampling as in TensorFold (github.com/ashhart/TensorFold, 2026-08), with its 24-bit
/// uniform.

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif

/// Uniform and Gumbel variables of one (seed, position).
struct Noise {
    /// The largest G that 24 bits can give, rounded up: -ln(-ln(1 - 2^-25)) = 17.3287.
    static let ceiling = 17.33

    private let key: UInt64

    /// - Parameters:
    ///   - seed: All bits count.
    ///   - position: Absolute position of the token that is drawn; 0 is the first token of the prompt.
    init(seed: UInt64, position: Int) {
        let mixed = Noise.mix(seed &+ 0x9E37_79B9_7F4A_7C15)
        key = Noise.mix(mixed ^ (UInt64(truncatingIfNeeded: position) &* 0xD1B5_4A32_D192_ED03))
    }

    /// 24 bits, each value equally likely.
    func bits(_ token: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: Noise.mix(key ^ UInt64(truncatingIfNeeded: token)) >> 40)
    }

    /// In (0, 1): (bits + 1/2) / 2^24.
    func uniform(_ token: Int) -> Double { (Double(bits(token)) + 0.5) / 16_777_216 }

    /// Whether G may reach `bound`: false is certain and costs no logarithm.
    /// - Parameter bound: Below `ceiling`.
    func mayReach(_ bound: Double, _ token: Int) -> Bool {
        bound < 1 || bits(token) >= Noise.leastBits[min(Int(bound), Noise.leastBits.count - 1)]
    }

    /// By whole k: G < k for all bits below, with a margin of one.
    private static let leastBits: [UInt32] = (0..<Int(ceiling) + 1).map { k in
        UInt32(max(exp(-exp(-Double(k))) * 16_777_216 - 1.5, 0))
    }

    /// -ln(-ln U).
    func gumbel(_ token: Int) -> Double { -log(-log(uniform(token))) }

    /// The finalizer of splitmix64 with a first shift of 30.
    private static func mix(_ value: UInt64) -> UInt64 {
        var x = value
        x ^= x >> 30
        x &*= 0xBF58_476D_1CE4_E5B9
        x ^= x >> 27
        x &*= 0x94D0_49BB_1331_11EB
        x ^= x >> 31
        return x
    }
}
