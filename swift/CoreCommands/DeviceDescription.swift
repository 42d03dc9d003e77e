/// What runs the steps: processor or GPU, its memory, its threads. The JSON of `rmx_device_info`.
///
/// Read from the system each time it is asked, and from nowhere else; a limit of a container counts as memory.

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
        let memory = LinuxSystem.memoryBytes()
        return DeviceDescription(
            device: .cpu, name: LinuxSystem.processorName(), memoryBytes: memory,
            workingSetBytes: memory / 10 * 8, threads: cpuThreads(), cpuVariant: cpuVariantName())
        #endif
    }
}

#if canImport(Glibc)
/// Threads that the kernels use.
private func cpuThreads() -> Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

/// Instruction set that the kernels use: MLX's own, which is compiled for the baseline.
private func cpuVariantName() -> String { "plain" }
#endif
