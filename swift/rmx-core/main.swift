/// `rmx-core`: info, selftest and bench of the core without the server. The commands are in CoreCommands; this file
/// only reads flags, by swift-argument-parser where the build has it (ArgumentCommands.swift), else by itself.

import CoreCommands

#if canImport(ArgumentParser)
RMXCore.main()
#else
#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Tells of a failure.
func complain(_ message: String) {
    let line = "rmx-core: \(message)\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
}

var words: [String] = []
var values: [String: String] = [:]
var rest = CommandLine.arguments.dropFirst()
while let argument = rest.popFirst() {
    switch argument {
    case "--json", "--deep", "--profile": values[argument] = ""
    case "--filter", "--contexts", "--batches", "--steps", "--chunk", "--arithmetic", "--threads":
        guard let value = rest.popFirst() else {
            complain("\(argument) wants a value\n\(coreUsage)")
            exit(2)
        }
        values[argument] = value
    case "--help", "-h":
        print(coreUsage)
        exit(0)
    case _ where argument.hasPrefix("-"):
        complain("Unknown flag \(argument)\n\(coreUsage)")
        exit(2)
    default: words.append(argument)
    }
}
let flags = CoreFlags(
    filter: values["--filter"], deep: values["--deep"] != nil, contexts: values["--contexts"],
    batches: values["--batches"], steps: values["--steps"], chunk: values["--chunk"],
    arithmetic: values["--arithmetic"], threads: values["--threads"], profile: values["--profile"] != nil)
exit(runCore(words, flags, json: values["--json"] != nil, print: { print($0) }, complain: complain))
#endif
