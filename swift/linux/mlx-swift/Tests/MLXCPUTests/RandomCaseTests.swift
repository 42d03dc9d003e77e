// Some of the random cases of Tests/KernelCases; `deno task test:kernels` runs a thousand. RMX_KERNEL_CASES and
// RMX_KERNEL_SEED change the number and the seed.
import KernelCases
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sentences of failed checks.
private final class Failures {
    var texts: [String] = []
}

extension CPUSuite {
    @Suite struct RandomCaseTests {
        @Test func randomCasesKeepTheirBoundsAndTheirBits() {
            let environment = ProcessInfo.processInfo.environment
            let count = environment["RMX_KERNEL_CASES"].flatMap { Int32($0) } ?? 60
            let seed = environment["RMX_KERNEL_SEED"].flatMap { UInt64($0) } ?? 1
            var plan = kernel_cases_plan(seed: seed, first: 0, count: count, megamacs: 4)
            let failures = Failures()
            var summary = [CChar](repeating: 0, count: 4096)
            let checks = kernel_cases_run(
                &plan,
                { context, text in
                    guard let context, let text else { return }
                    Unmanaged<Failures>.fromOpaque(context).takeUnretainedValue().texts.append(String(cString: text))
                }, Unmanaged.passUnretained(failures).toOpaque(), &summary, Int32(summary.count))
            print("seed \(seed), \(count) cases, \(checks) checks")
            #expect(checks > Int64(count))
            for text in failures.texts.prefix(20) { Issue.record("\(text)") }
            #expect(failures.texts.isEmpty)
        }
    }
}
