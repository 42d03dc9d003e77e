/// Runs every kernel against its reference and reports; the code behind `rmx_selftest`, `rmx-core selftest` and
/// `rapid-mlx doctor`. A kernel that is wrong is a finding, not an error.

import Engine
import Kernels

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What to run.
public struct SelftestOptions: Sendable, Equatable {
    /// Only kernels whose name contains this, in any case; empty: all.
    public var filter = ""
    /// The slow cases too.
    public var deep = false
    /// All kernels, quick cases.
    public init() {}

    /// Parses the options of `rmx_selftest`; empty text is `{}`.
    /// - Throws: `argument`, naming the key.
    public init(json: [UInt8]) throws(EngineError) {
        guard !json.isEmpty else { return }
        let values: [String: Value]
        do {
            values = try JSONDecoder().decode([String: Value].self, from: Data(json))
        } catch {
            throw EngineError(.argument, "The self-test's options are no JSON object; wanted is e.g. {\"deep\":true}")
        }
        for (key, value) in values {
            switch (key, value) {
            case ("filter", .text(let text)): filter = text
            case ("deep", .flag(let flag)): deep = flag
            case ("filter", _): throw EngineError(.argument, "filter of the self-test is no text")
            case ("deep", _): throw EngineError(.argument, "deep of the self-test is neither true nor false")
            default:
                throw EngineError(
                    .argument, "Unknown key \"\(key)\" in the self-test's options; known are filter, deep")
            }
        }
    }

    private enum Value: Decodable {
        case text(String)
        case flag(Bool)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .other
            }
        }
    }
}

/// What was found.
public struct SelftestReport: Sendable, Encodable {
    /// One kernel's result.
    public struct Kernel: Sendable, Encodable {
        /// The kernel's name.
        public var name: String
        /// Whether all its cases passed.
        public var ok: Bool
        /// Cases run.
        public var cases: Int
        /// Largest absolute difference seen; nil if one was not a number, or a case threw.
        public var maxError: Float?
        /// The first case that failed and how; empty if none.
        public var message: String

        enum CodingKeys: String, CodingKey {
            case name, ok, cases, message
            case maxError = "max_error"
        }

        /// Writes `max_error` as null where there is none.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(ok, forKey: .ok)
            try container.encode(cases, forKey: .cases)
            try container.encode(maxError, forKey: .maxError)
            try container.encode(message, forKey: .message)
        }
    }

    /// Whether every kernel passed.
    public var ok: Bool
    /// In the order they ran.
    public var kernels: [Kernel]
}

/// The runner.
public enum Selftest {
    /// Runs the checks of MLX's ops and of our kernels. Nobody else may use MLX meanwhile.
    /// - Throws: `argument` if the filter leaves nothing.
    public static func run(
        _ options: SelftestOptions, checks: [KernelCheck] = OpChecks.all + KernelChecks.all
    ) throws(EngineError) -> SelftestReport {
        let filter = options.filter.lowercased()
        let chosen = checks.filter { filter.isEmpty || $0.name.lowercased().contains(filter) }
        guard !chosen.isEmpty else {
            let names = checks.map(\.name).joined(separator: ", ")
            throw EngineError(.argument, "No kernel's name contains \"\(options.filter)\"; there are \(names)")
        }
        // MLX's own ops round nothing to int8; what fast arithmetic may be off is tried by the kernels' random cases.
        let kernels = Processor.exactly { chosen.map { run($0, deep: options.deep) } }
        return SelftestReport(ok: kernels.allSatisfy(\.ok), kernels: kernels)
    }

    /// The report as lines for people.
    public static func lines(_ report: SelftestReport) -> [String] {
        report.kernels.map { kernel in
            let error = kernel.maxError.map { "largest error \($0)" } ?? "no number"
            return "\(kernel.ok ? "ok   " : "WRONG") \(kernel.name): \(kernel.cases) cases, \(error)"
                + (kernel.message.isEmpty ? "" : "; \(kernel.message)")
        }
    }

    private static func run(_ check: KernelCheck, deep: Bool) -> SelftestReport.Kernel {
        let cases = check.cases + (deep ? check.deepCases : [])
        var worst: Float? = 0
        var messages: [String] = []
        for each in cases {
            do {
                let found = try each.compare()
                // A comparison with NaN is false, so a result that is no number fails here too.
                if !(found.error <= found.allowed) {
                    messages.append("\(each.name): differs by \(found.error), allowed is \(found.allowed)")
                }
                worst = found.error.isFinite ? worst.map { max($0, found.error) } : nil
            } catch {
                messages.append("\(each.name): \(error)")
                worst = nil
            }
        }
        return SelftestReport.Kernel(
            name: check.name, ok: messages.isEmpty, cases: cases.count, maxError: worst, message: messages.first ?? "")
    }
}
