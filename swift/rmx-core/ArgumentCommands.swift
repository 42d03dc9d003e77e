/// `rmx-core` by swift-argument-parser: the same commands and flags as main.swift reads by itself.

#if canImport(ArgumentParser)
import ArgumentParser
import CoreCommands

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The root command.
struct RMXCore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rmx-core", abstract: "Info, self-test and speed of the core without the server.",
        subcommands: [InfoCommand.self, SelftestCommand.self, BenchCommand.self])
}

/// Shared by all.
struct OutputFlags: ParsableArguments {
    @Flag(help: "Results as JSON, one line each.") var json = false

    /// Runs a command; a wrong kernel is exit code 1, a failure 2.
    func run(_ words: [String], _ flags: CoreFlags) throws {
        let complain = { (message: String) in
            let line = "rmx-core: \(message)\n"
            _ = write(STDERR_FILENO, line, line.utf8.count)
        }
        let code = runCore(words, flags, json: json, print: { print($0) }, complain: complain)
        if code != 0 { throw ExitCode(code) }
    }
}

/// `info DIR`.
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "What a checkpoint is and how much memory it takes.")
    @Argument(help: "A folder with config.json and *.safetensors.") var directory: String
    @OptionGroup var output: OutputFlags

    func run() throws { try output.run(["info", directory], CoreFlags()) }
}

/// `selftest`.
struct SelftestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "selftest", abstract: "Every kernel against its reference; exit code 1 if one is wrong.")
    @Option(help: "Only kernels whose name contains this.") var filter: String?
    @Flag(help: "The slow cases too.") var deep = false
    @OptionGroup var output: OutputFlags

    func run() throws { try output.run(["selftest"], CoreFlags(filter: filter, deep: deep)) }
}

/// `bench DIR`.
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Prefill and decode speed of the core alone.")
    @Argument(help: "A folder with config.json and *.safetensors.") var directory: String
    @Option(help: "Prompt lengths in tokens, e.g. 128,1024.") var contexts: String?
    @Option(help: "Sequences in a step, e.g. 1,4.") var batches: String?
    @Option(help: "Decode steps of each measurement.") var steps: String?
    @Option(help: "Prompt tokens of one prefill step.") var chunk: String?
    @Option(help: "Rounding on the CPU: exact or fast (fast).") var arithmetic: String?
    @Option(help: "Threads of the CPU kernels.") var threads: String?
    @Flag(help: "Where the microseconds of a step go.") var profile = false
    @OptionGroup var output: OutputFlags

    func run() throws {
        let flags = CoreFlags(
            contexts: contexts, batches: batches, steps: steps, chunk: chunk, arithmetic: arithmetic, threads: threads,
            profile: profile)
        try output.run(["bench", directory], flags)
    }
}
#endif
