/// Facts of a Linux machine, from /proc, /sys and sysconf. A file that is missing or reads otherwise than expected is
/// passed over: these numbers inform and bound, they are not needed to run. Read once: rmx_device_info is a fast call.

#if canImport(Glibc)
import Glibc

/// What the kernel says of the machine.
enum LinuxSystem {
    /// Bytes of memory: the machine's, or the cgroup's limit if that is less.
    static let memoryBytes: Int = {
        let physical = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
            .compactMap { readText($0).flatMap { Int($0.prefix { $0.isNumber }) } }
        return limits.filter { $0 > 0 }.reduce(physical, min)
    }()

    /// The processor as /proc/cpuinfo names it; Arm kernels give no name there.
    static let processorName: String = {
        let lines = (readText("/proc/cpuinfo") ?? "").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("model name") }),
            let colon = line.firstIndex(of: ":")
        else { return "unknown processor" }
        return String(line[line.index(after: colon)...].drop { $0 == " " })
    }()

    /// The first 64 kB of a file; nil if it can't be read. Files of /proc have no size, so this reads until the end.
    static func readText(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
#endif
