/// What runs the steps: processor or GPU, its memory, its threads. The JSON of `rmx_device_info`.
///
/// A limit of a container counts as memory.

import Engine
import Kernels

#if canImport(Darwin)
import Darwin
import MLX
#else
import Glibc
#endif

/// Facts of the device.
public struct DeviceDescription: Sendable, Equatable, Encodable {
    /// Where arrays live.
    public enum Kind: String, Sendable, Encodable {
        case cpu, gpu
    }
    /// Where arrays live.
    public var device: Kind
    /// Chip or processor.
    public var name: String
    /// Memory that this process may have, in bytes: the machine's, or its container's if that is less.
    public var memoryBytes: Int
    /// What the process should stay under, in bytes.
    public var workingSetBytes: Int
    /// Worker threads.
    public var threads: Int
    /// Instruction set of the CPU kernels: avx512, avx2, neon or plain.
    public var cpuVariant: String

    enum CodingKeys: String, CodingKey {
        case device, name, threads
        case memoryBytes = "memory_bytes"
        case workingSetBytes = "working_set_bytes"
        case cpuVariant = "cpu_variant"
    }

    /// As the system says now.
    public static func current() -> DeviceDescription {
        #if canImport(Darwin)
        let gpu = GPU.deviceInfo()
        let cores = sysconf(_SC_NPROCESSORS_ONLN)
        return DeviceDescription(
            device: .gpu, name: gpu.architecture, memoryBytes: gpu.memorySize,
            workingSetBytes: Int(clamping: gpu.maxRecommendedWorkingSetSize), threads: max(1, cores),
            cpuVariant: "neon")
        #else
        let memory = LinuxSystem.memoryBytes
        return DeviceDescription(
            device: .cpu, name: LinuxSystem.processorName, memoryBytes: memory,
            workingSetBytes: memory / 10 * 8,
            threads: Processor.threads ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))),
            cpuVariant: Processor.variant ?? "plain")
        #endif
    }
}

/// Sets what an engine's config says of the processor.
/// - Throws: `argument`, with what is possible.
public func configureProcessor(_ config: EngineConfig) throws(EngineError) {
    do throws(Processor.Refusal) {
        try Processor.configure(threads: config.threads, fast: config.cpuArithmetic.map { $0 == .fast })
    } catch {
        throw EngineError(.argument, error.message)
    }
}
