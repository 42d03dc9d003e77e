// Devices and streams. The default device is the GPU where libmlx has one, else the CPU; both defaults can be replaced
// for a task, as upstream.
import CMLX

/// CPU or GPU.
public enum DeviceType: String, Hashable, Sendable {
    case cpu
    case gpu
}

/// Something that runs ops.
public final class Device: @unchecked Sendable, Equatable {
    private let type: DeviceType
    let defaultStream: Stream

    /// The device of a type. `index` is kept for the API; there is one of each.
    public init(_ deviceType: DeviceType, index: Int32 = 0) {
        type = deviceType
        defaultStream = deviceType == .cpu ? .cpu : .gpu
    }

    /// The CPU.
    static public let cpu: Device = Device(.cpu)
    /// The GPU; using it where there is none is an error of the op that does.
    static public let gpu: Device = Device(.gpu)

    /// CPU or GPU.
    public var deviceType: DeviceType? { type }

    @TaskLocal static var taskDevice: Device = cmlx_gpu_is_available() ? .gpu : .cpu

    /// The device that ops use when nothing else is said.
    static public func defaultDevice() -> Device {
        taskDevice
    }

    /// Runs `body` with another default device.
    static public func withDefaultDevice<R>(
        _ device: Device, _ body: () throws -> R
    ) rethrows -> R {
        try $taskDevice.withValue(device, operation: body)
    }

    /// Runs `body` with another default device.
    static public func withDefaultDevice<R>(
        _ device: Device, _ body: () async throws -> R
    ) async rethrows -> R {
        try await $taskDevice.withValue(device, operation: body)
    }

    static func defaultStream() -> Stream {
        taskDevice.defaultStream
    }

    /// Whether both are of the same type.
    public static func == (lhs: Device, rhs: Device) -> Bool {
        lhs.type == rhs.type
    }
}

extension Device: CustomStringConvertible {
    /// As MLX prints it.
    public var description: String {
        "Device(\(type), 0)"
    }
}

/// A queue of work on a device, in order.
public final class Stream: @unchecked Sendable, Equatable {
    package let ctx: cmlx_stream

    /// The GPU's default stream.
    public static let gpu = Stream(cmlx_default_stream(1))
    /// The CPU's default stream.
    public static let cpu = Stream(cmlx_default_stream(0))

    @TaskLocal static var defaultStream: Stream?

    /// Runs `body` with a new stream as the default.
    public static func withNewDefaultStream<R>(device: Device? = nil, _ body: () throws -> R)
        rethrows -> R
    {
        try $defaultStream.withValue(Stream(device ?? Device.defaultDevice()), operation: body)
    }

    /// Runs `body` with a new stream as the default.
    public static func withNewDefaultStream<R>(
        device: Device? = nil, _ body: () async throws -> R
    ) async rethrows -> R {
        try await $defaultStream.withValue(Stream(device ?? Device.defaultDevice()), operation: body)
    }

    init(_ ctx: cmlx_stream) {
        self.ctx = ctx
    }

    /// The default stream of the default device.
    public init() {
        ctx = Device.defaultDevice().defaultStream.ctx
    }

    /// A new stream on a device.
    public init(_ device: Device) {
        ctx = evalLock.withLock { cmlx_new_stream(device.deviceType == .cpu ? 0 : 1) }
    }

    /// Waits until all work of the stream is done.
    public func synchronize() {
        check(evalLock.withLock { cmlx_synchronize(ctx) })
    }

    /// The stream that a device uses when nothing else is said.
    static public func defaultStream(_ device: Device) -> Stream {
        device.defaultStream
    }

    /// Whether both are the same queue.
    public static func == (lhs: Stream, rhs: Stream) -> Bool {
        lhs.ctx.index == rhs.ctx.index && lhs.ctx.device == rhs.ctx.device
    }
}

extension Stream: CustomStringConvertible {
    /// As MLX prints it.
    public var description: String {
        "Stream(Device(\(ctx.device == 0 ? "cpu" : "gpu"), \(ctx.device_index)), \(ctx.index))"
    }
}

/// Where an op runs: a stream, or the default stream of a device.
public struct StreamOrDevice: Sendable, CustomStringConvertible, Equatable {
    /// The stream that is meant.
    public let stream: Stream

    private init(_ stream: Stream) {
        self.stream = stream
    }

    /// The task's default stream, else the default device's.
    public static var `default`: StreamOrDevice {
        StreamOrDevice(Stream.defaultStream ?? Device.defaultStream())
    }

    /// The default stream of a device.
    public static func device(_ device: Device) -> StreamOrDevice {
        StreamOrDevice(Stream.defaultStream(device))
    }

    /// The CPU's default stream.
    public static let cpu = device(.cpu)
    /// The GPU's default stream.
    public static let gpu = device(.gpu)

    /// This stream. (Upstream 0.31.3 uses the default device's stream here, whatever is passed.)
    public static func stream(_ stream: Stream) -> StreamOrDevice {
        StreamOrDevice(stream)
    }

    package var ctx: cmlx_stream {
        stream.ctx
    }

    /// As MLX prints the stream.
    public var description: String {
        stream.description
    }
}
