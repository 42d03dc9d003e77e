/// Rotary position embedding with the scalings of config.json: default, linear, llama3, yarn.
///
/// Source: mlx-lm `rope_utils.py` at d78bf58. Periods are computed in Double and rounded once. Each row carries its own
/// absolute position, so a row's bits do not depend on the rows beside it.

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif
import Kernels

/// How queries and keys are rotated by their positions.
public struct Rope {
    /// Rotated dimensions, even, at most D.
    public let dimensions: Int
    /// Pairs (2i, 2i+1) instead of (i, i + dimensions/2).
    let traditional: Bool
    let scaling: Scaling

    /// What the angles are.
    struct Scaling: Equatable {
        /// Nil when `periods` are given.
        var base: Float?
        /// Positions are multiplied by this.
        var scale: Float = 1
        /// [dimensions / 2]: the angle is position / period.
        var periods: [Float]?
        /// Rotated dimensions are multiplied by this first (yarn).
        var amplitude: Float = 1
    }

    /// Reads `rope_theta`, `rope_scaling` (or `rope_parameters`) and `rope_traditional`.
    /// - Throws: When the scaling is unknown or its numbers make no sense.
    public init(_ config: ConfigReader, dimensions: Int) throws {
        let parameters = try config.object("rope_parameters")
        let settings = try config.object("rope_scaling") ?? parameters
        let thetaPlace = parameters?.has("rope_theta") == true ? parameters ?? config : config
        let theta = try thetaPlace.number("rope_theta", in: 1...1e12, default: 10_000)
        let partial = try config.number("partial_rotary_factor", in: 0...16, default: 1)
        guard partial == 1 else { throw config.wrong("partial_rotary_factor", wanted: "1 (others are not supported)") }
        guard dimensions > 0, dimensions % 2 == 0 else {
            throw CheckpointError(.model, "config.json: head_dim is \(dimensions); wanted an even number")
        }
        self.dimensions = dimensions
        traditional = try config.bool("rope_traditional", default: false)
        scaling = try Rope.scaling(settings, base: theta, dimensions: dimensions)
    }

    /// For the attention kernel.
    var kernelRotation: AttentionBlock.Rotation {
        AttentionBlock.Rotation(
            dimensions: dimensions, traditional: traditional, base: scaling.base, periods: scaling.periods,
            scale: scaling.scale, amplitude: scaling.amplitude)
    }

    private static func scaling(
        _ settings: ConfigReader?, base: Double, dimensions: Int
    ) throws -> Scaling {
        guard let settings else { return Scaling(base: Float(base)) }
        let type = try settings.string("rope_type") ?? settings.string("type") ?? "default"
        switch type {
        case "default":
            return Scaling(base: Float(base))
        case "linear":
            let factor = try settings.number("factor", in: 1e-3...1e6)
            return Scaling(base: Float(base), scale: Float(1 / factor))
        case "llama3":
            return try llama3(settings, base: base, dimensions: dimensions)
        case "yarn":
            return try yarn(settings, base: base, dimensions: dimensions)
        default:
            throw CheckpointError(
                .model,
                "\(settings.place): rope_type \"\(type)\" is not supported; wanted default, linear, llama3 or yarn")
        }
    }

    /// base^(2i/r) for each pair.
    private static func plainPeriods(base: Double, dimensions: Int) -> [Double] {
        (0..<dimensions / 2).map { pow(base, Double(2 * $0) / Double(dimensions)) }
    }

    private static func llama3(_ settings: ConfigReader, base: Double, dimensions: Int) throws -> Scaling {
        let factor = try settings.number("factor", in: 1e-3...1e6)
        let low = try settings.number("low_freq_factor", in: 1e-3...1e6, default: 1)
        let high = try settings.number("high_freq_factor", in: 1e-3...1e6, default: 4)
        let original = try settings.number("original_max_position_embeddings", in: 1...1e9, default: 8192)
        guard high > low else {
            throw settings.wrong("high_freq_factor", wanted: "more than low_freq_factor (\(low))")
        }
        let periods = plainPeriods(base: base, dimensions: dimensions).map { period -> Float in
            let wavelength = 2 * Double.pi * period
            if wavelength > original / low { return Float(period * factor) }
            if wavelength < original / high { return Float(period) }
            let smooth = (original / wavelength - low) / (high - low)
            return Float(period / ((1 - smooth) / factor + smooth))
        }
        return Scaling(base: nil, periods: periods)
    }

    private static func yarn(_ settings: ConfigReader, base: Double, dimensions: Int) throws -> Scaling {
        let factor = try settings.number("factor", in: 1e-3...1e6)
        let original = try settings.number("original_max_position_embeddings", in: 1...1e9, default: 4096)
        let fast = try settings.number("beta_fast", in: 1e-3...1e6, default: 32)
        let slow = try settings.number("beta_slow", in: 1e-3...1e6, default: 1)
        let mscale = try settings.number("mscale", in: 0...1e3, default: 1)
        let mscaleAll = try settings.number("mscale_all_dim", in: 0...1e3, default: 0)
        guard base > 1 else {
            throw CheckpointError(.model, "config.json: rope_theta is \(base); yarn wants more than 1")
        }
        // The dimension whose wave turns `turns` times over the original context.
        func correction(_ turns: Double) -> Double {
            Double(dimensions) * log(original / (turns * 2 * .pi)) / (2 * log(base))
        }
        let low = max(correction(fast).rounded(.down), 0)
        var high = min(correction(slow).rounded(.up), Double(dimensions - 1))
        if low == high { high += 0.001 }
        let periods = plainPeriods(base: base, dimensions: dimensions).enumerated().map { index, period -> Float in
            let ramp = min(max((Double(index) - low) / (high - low), 0), 1)
            let mask = 1 - ramp
            return Float(factor * period * period / (factor * period * mask + period * (1 - mask)))
        }
        func amplitude(_ scale: Double) -> Double { factor <= 1 ? 1 : 0.1 * scale * log(factor) + 1 }
        let usual = amplitude(mscale) / amplitude(mscaleAll)
        let given = try settings.number("attention_factor", in: 1e-3...1e3, default: usual)
        return Scaling(base: nil, periods: periods, amplitude: Float(given))
    }
}
