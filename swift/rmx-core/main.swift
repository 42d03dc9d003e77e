/// `rmx-core`: info, selftest and bench of the core without the server. The commands are in CoreCommands; this file only
/// reads flags, by swift-argument-parser where the build has it (ArgumentCommands.swift), else by itself.

import CoreCommands
import Engine

#if canImport(ArgumentParser)
RMXCore.main()
#else
#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Takes flags out of `arguments`; what is left are words.
func parse(_ arguments: [String]) throws -> (command: CoreCommand, json: Bool) {
    var words: [String] = []
    var values: [String: String] = [:]
    var rest = arguments[...]
    while let argument = rest.popFirst() {
        switch argument {
        case "--json", "--deep": values[argument] = ""
        case "--filter", "--contexts", "--batches", "--steps", "--chunk":
            guard let value = rest.popFirst() else { throw EngineError(.argument, "\(argument) wants a value") }
            values[argument] = value
        case _ where argument.hasPrefix("-"): throw EngineError(.argument, "Unknown flag \(argument)\n\(coreUsage)")
        default: words.append(argument)
        }
    }
    let flags = CoreFlags(
        filter: values["--filter"], deep: values["--deep"] != nil, contexts: values["--contexts"],
        batches: values["--batches"], steps: values["--steps"], chunk: values["--chunk"])
    return (try CoreCommand(words: words, flags), values["--json"] != nil)
}

do {
    let (command, json) = try parse(Array(CommandLine.arguments.dropFirst()))
    exit(try command.run(json: json) { print($0) } ? 0 : 1)
} catch let error as EngineError {
    let line = "rmx-core: \(error.message)\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
    exit(2)
}
#endif
