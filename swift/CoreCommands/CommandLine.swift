/// The three commands with their flags as values: what `rmx-core` runs, whichever way it has read its arguments.

import Engine

/// A command of `rmx-core`.
enum CoreCommand: Sendable {
    /// Facts of a checkpoint.
    case info(path: String)
    /// Kernels against their references.
    case selftest(SelftestOptions)
    /// Speed of a checkpoint.
    case bench(path: String, BenchOptions)

    /// Runs it; each line of the result goes to `print`, as JSON if asked.
    /// - Returns: False if the self-test found a wrong kernel.
    /// - Throws: `EngineError` with a sentence.
    func run(json: Bool, print: (String) -> Void) throws -> Bool {
        switch self {
        case .info(let path):
            let report = try Info.report(path)
            try json ? print(jsonLine(report)) : Info.lines(report).forEach(print)
        case .selftest(let options):
            let report = try Selftest.run(options)
            try json ? print(jsonLine(report)) : Selftest.lines(report).forEach(print)
            return report.ok
        case .bench(let path, let options):
            var failure: (any Error)?
            try Bench.run(path, options) { result in
                do {
                    try print(json ? jsonLine(result) : Bench.line(result))
                    if !json { result.profile?.lines.forEach(print) }
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        }
        return true
    }
}

/// Flags as they were written; nil where absent.
public struct CoreFlags: Sendable {
    /// Of `selftest`.
    public var filter: String?
    /// Of `selftest`.
    public var deep: Bool
    /// Of `bench`: a list of numbers.
    public var contexts: String?
    /// Of `bench`: a list of numbers.
    public var batches: String?
    /// Of `bench`: a number.
    public var steps: String?
    /// Of `bench`: a number.
    public var chunk: String?
    /// Of `bench`: `exact` or `fast`.
    public var arithmetic: String?
    /// Of `bench`: a number.
    public var threads: String?
    /// Of `bench`.
    public var profile: Bool
    /// All absent unless given.
    public init(
        filter: String? = nil, deep: Bool = false, contexts: String? = nil, batches: String? = nil,
        steps: String? = nil, chunk: String? = nil, arithmetic: String? = nil, threads: String? = nil,
        profile: Bool = false
    ) {
        (self.filter, self.deep) = (filter, deep)
        (self.contexts, self.batches, self.steps, self.chunk) = (contexts, batches, steps, chunk)
        (self.arithmetic, self.threads, self.profile) = (arithmetic, threads, profile)
    }
}

extension CoreCommand {
    /// Reads `info DIR`, `selftest` or `bench DIR`.
    /// - Throws: `argument`, naming the word or flag that does not belong there.
    init(words: [String], _ flags: CoreFlags) throws(EngineError) {
        switch (words.first, words.count) {
        case ("info", 2): self = .info(path: words[1])
        case ("selftest", 1):
            var options = SelftestOptions()
            (options.filter, options.deep) = (flags.filter ?? "", flags.deep)
            self = .selftest(options)
        case ("bench", 2): self = .bench(path: words[1], try BenchOptions(flags))
        default:
            throw EngineError(.argument, "Can't read \"\(words.joined(separator: " "))\" as a command\n\(coreUsage)")
        }
        try flags.refuseForeign(to: words[0])
    }
}

extension CoreFlags {
    /// - Throws: `argument` if a flag of another command was given.
    fileprivate func refuseForeign(to command: String) throws(EngineError) {
        let given = [
            ("--filter", filter != nil, "selftest"), ("--deep", deep, "selftest"),
            ("--contexts", contexts != nil, "bench"), ("--batches", batches != nil, "bench"),
            ("--steps", steps != nil, "bench"), ("--chunk", chunk != nil, "bench"),
            ("--arithmetic", arithmetic != nil, "bench"), ("--threads", threads != nil, "bench"),
            ("--profile", profile, "bench"),
        ]
        if let (flag, _, owner) = given.first(where: { $0.1 && $0.2 != command }) {
            throw EngineError(.argument, "\(flag) is a flag of \(owner), not of \(command)")
        }
    }
}

/// Runs what the words and flags say: the whole of `rmx-core` but the reading of its arguments.
///
/// `print` takes each line of the result, `complain` the sentence of a failure. The exit code is 1 if the self-test
/// found a wrong kernel and 2 after a failure.
public func runCore(
    _ words: [String], _ flags: CoreFlags, json: Bool, print: (String) -> Void, complain: (String) -> Void
) -> Int32 {
    do {
        return try CoreCommand(words: words, flags).run(json: json, print: print) ? 0 : 1
    } catch let error as EngineError {
        complain(error.message)
    } catch {
        complain("\(error)")
    }
    return 2
}

/// The help of `rmx-core`.
public let coreUsage = """
    usage: rmx-core info DIR [--json]
           rmx-core selftest [--filter NAME] [--deep] [--json]
           rmx-core bench DIR [--contexts 128,1024] [--batches 1,4] [--steps 32] [--chunk 256]
                          [--arithmetic exact|fast] [--threads N] [--profile] [--json]

    info      what a checkpoint is and how much memory it takes
    selftest  every kernel against its reference; exit code 1 if one is wrong
    bench     prefill and decode speed of the core alone; --profile: where the microseconds of a step go
    """
