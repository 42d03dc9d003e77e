/// The commands of rmx-core: their flags, and that a self-test finds a wrong kernel.

import Engine
import Kernels
import Testing

@testable import CoreCommands

@Test func aWrongKernelIsAFindingWithTheCaseAndBothNumbers() throws {
    struct Lost: Error, CustomStringConvertible { let description = "the device is lost" }
    let checks = [
        KernelCheck("Right", [KernelCase("[1]") { KernelDifference(error: 0.5, allowed: 0.5) }]),
        KernelCheck("Wrong", [KernelCase("[2]") { KernelDifference(error: 0.5, allowed: 0.25) }]),
        KernelCheck("NoNumber", [KernelCase("[3]") { KernelDifference(error: .nan, allowed: 1) }]),
        KernelCheck("Throwing", [KernelCase("[4]") { throw Lost() }]),
    ]
    let report = try Selftest.run(SelftestOptions(), checks: checks)
    #expect(!report.ok)
    #expect(report.kernels.map(\.ok) == [true, false, false, false])
    #expect(report.kernels.map(\.maxError) == [0.5, 0.5, nil, nil])
    #expect(report.kernels[1].message == "[2]: differs by 0.5, allowed is 0.25")
    #expect(report.kernels[3].message == "[4]: the device is lost")
    #expect(try jsonLine(report).contains(#""max_error":null"#))
}

@Test func theSlowCasesRunOnlyWhenAskedFor() throws {
    let check = KernelCheck(
        "Slow", [KernelCase("quick") { KernelDifference(error: 0, allowed: 0) }],
        deep: [KernelCase("slow") { KernelDifference(error: 1, allowed: 0) }])
    #expect(try Selftest.run(SelftestOptions(), checks: [check]).kernels[0].cases == 1)
    let deep = try Selftest.run(SelftestOptions(json: Array(#"{"deep":true,"filter":"sLO"}"#.utf8)), checks: [check])
    #expect(deep.kernels[0].cases == 2 && !deep.ok)
}

@Test func selftestOptionsAreRefusedByName() {
    for (json, name) in [
        (#"{"deep":"yes"}"#, "deep"), (#"{"filter":1}"#, "filter"), (#"{"fast":true}"#, "fast"), ("[]", "object"),
        (#"{"filter":"zz"}"#, "zz"),
    ] {
        do throws(EngineError) {
            _ = try Selftest.run(SelftestOptions(json: Array(json.utf8)))
            Issue.record("\(json) was accepted")
        } catch {
            #expect(error.code == .argument && error.message.contains(name))
        }
    }
}

@Test func theOpsOfThisBuildAgreeWithTheirReferences() throws {
    let report = try Selftest.run(SelftestOptions(), checks: OpChecks.all)
    #expect(report.ok, "\(Selftest.lines(report).joined(separator: "\n"))")
    #expect(report.kernels.count == 9)
}

@Test func commandsAreReadFromWordsAndFlags() throws {
    guard case .bench(let path, let options) = try CoreCommand(
        words: ["bench", "m"],
        CoreFlags(
            contexts: "16,64", batches: "2", steps: "8", arithmetic: "fast", threads: "1", profile: true))
    else {
        Issue.record("bench was read as another command")
        return
    }
    #expect(path == "m" && options.contexts == [16, 64] && options.batches == [2] && options.steps == 8)
    #expect(options.arithmetic == .fast && options.threads == 1 && options.profile)
    #expect(options.chunkTokens == BenchOptions().chunkTokens)
}

@Test func commandsRefuseWhatDoesNotBelong() {
    let wrong: [([String], CoreFlags, String)] = [
        ([], CoreFlags(), "usage"), (["info"], CoreFlags(), "usage"), (["fly", "m"], CoreFlags(), "fly"),
        (["info", "m"], CoreFlags(steps: "1"), "--steps"), (["selftest"], CoreFlags(contexts: "1"), "--contexts"),
        (["bench", "m"], CoreFlags(filter: "x"), "--filter"), (["bench", "m"], CoreFlags(batches: "0"), "--batches"),
        (["bench", "m"], CoreFlags(contexts: "1,,2"), "--contexts"),
        (["bench", "m"], CoreFlags(steps: "1,2"), "--steps"),
        (["bench", "m"], CoreFlags(arithmetic: "quick"), "--arithmetic"),
        (["info", "m"], CoreFlags(profile: true), "--profile"),
    ]
    for (words, flags, name) in wrong {
        do throws(EngineError) {
            _ = try CoreCommand(words: words, flags)
            Issue.record("\(words) was accepted")
        } catch {
            #expect(error.code == .argument && error.message.contains(name), "\(error.message)")
        }
    }
}
