/// What a checkpoint is and takes, and what this machine has: `rmx-core info DIR`. Reads headers, not weights.

import Engine
import Runtime

/// The command.
public enum Info {
    /// Facts of one checkpoint on one machine.
    public struct Report: Sendable, Encodable {
        /// The checkpoint.
        public var model: ModelDescription
        /// This machine.
        public var device: DeviceDescription
        /// Bytes of the weights and the cache of one full context.
        public var fullContextBytes: Int

        enum CodingKeys: String, CodingKey {
            case model, device
            case fullContextBytes = "full_context_bytes"
        }
    }

    /// Reads the headers of the checkpoint at `path`.
    /// - Throws: `EngineError` that names the file.
    public static func report(_ path: String) throws -> Report {
        let model = try CheckpointLoader().describe(path: path, options: ModelOptions())
        let (cache, overflow) = model.kvBytesPerToken.multipliedReportingOverflow(by: model.contextTokens)
        let whole = overflow ? Int.max : model.weightBytes.addingReportingOverflow(cache).partialValue
        return Report(model: model, device: .current(), fullContextBytes: whole)
    }

    /// The report as lines for people.
    public static func lines(_ report: Report) -> [String] {
        let (model, device) = (report.model, report.device)
        let fits = report.fullContextBytes <= device.workingSetBytes
        return [
            "graph         \(model.modelType), vocabulary of \(model.vocabularySize)",
            "quantization  \(model.quantization), activations \(model.dtype)",
            "weights       \(megabytes(model.weightBytes))",
            "cache         \(model.kvBytesPerToken) bytes a token, context of \(model.contextTokens)",
            "full context  \(megabytes(report.fullContextBytes)), \(fits ? "fits" : "does not fit") this machine",
            "device        \(device.name) (\(device.device.rawValue)), \(device.threads) threads, \(device.cpuVariant)",
            "memory        \(megabytes(device.memoryBytes)), to be used \(megabytes(device.workingSetBytes))",
        ]
    }

    /// Whole megabytes of 10^6 bytes.
    private static func megabytes(_ bytes: Int) -> String { "\((bytes + 500_000) / 1_000_000) MB" }
}
