// Arrays from Swift's numbers and from memory. Where upstream stops the process (a shape that doesn't fit the data, an
// integer that doesn't fit the type), these report an error and give an empty array.
import CMLX
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What keeps a finalizer closure alive while MLX holds the memory.
private final class Finalizer {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
}

extension MLXArray {
    /// Copies elements; the shape must have as many as there are.
    private static func copy(
        _ bytes: UnsafeRawBufferPointer, _ shape: (some Collection<Int>)?, _ dtype: DType
    ) -> OpaquePointer? {
        let count = bytes.count / dtype.size
        let lengths = shape?.asInt32 ?? [count.int32]
        let wanted = lengths.reduce(1.0) { $0 * Double($1) }
        guard wanted == Double(count), bytes.count % dtype.size == 0 else {
            report("can't make an array of shape \(lengths) and type \(dtype) from \(bytes.count) bytes")
            return nil
        }
        let handle = cmlx_array_copy(bytes.baseAddress, lengths, lengths.count, dtype.code)
        check(handle != nil)
        return handle
    }

    /// An array over memory of the caller, without a copy where the device allows it (on the CPU: where the address is
    /// a multiple of the element size). `finalizer` runs once, when MLX no longer needs the memory. MLX may write to
    /// memory that no array refers to any more; map files privately and writable.
    public convenience init(
        rawPointer: UnsafeMutableRawPointer,
        _ shape: (some Collection<Int>)? = [Int]?.none, dtype: DType,
        finalizer: @escaping () -> Void
    ) {
        let context = Unmanaged.passRetained(Finalizer(finalizer)).toOpaque()
        let lengths = shape?.asInt32 ?? []
        self.init(
            cmlx_array_wrap(rawPointer, lengths, lengths.count, dtype.code, context) { context in
                guard let context else { return }
                Unmanaged<Finalizer>.fromOpaque(context).takeRetainedValue().run()
            })
    }

    /// An int32 scalar.
    public convenience init(_ value: Int32) {
        self.init(cmlx_array_scalar_int(Int64(value), CMLX_INT32))
    }

    /// An int32 scalar; a larger number is an error.
    public convenience init(_ value: Int) {
        if Int32(exactly: value) == nil {
            report("\(value) doesn't fit int32: use MLXArray(int64:)")
        }
        self.init(cmlx_array_scalar_int(Int64(value), CMLX_INT32))
    }

    /// An int64 scalar.
    public convenience init(int64 value: Int) {
        self.init(cmlx_array_scalar_int(Int64(value), CMLX_INT64))
    }

    /// A bool scalar.
    public convenience init(_ value: Bool) {
        self.init(cmlx_array_scalar_int(value ? 1 : 0, CMLX_BOOL))
    }

    /// A float32 scalar.
    public convenience init(_ value: Float) {
        self.init(cmlx_array_scalar(Double(value), CMLX_FLOAT32))
    }

    /// A float64 scalar.
    public convenience init(float64 value: Double) {
        self.init(cmlx_array_scalar(value, CMLX_FLOAT64))
    }

    /// A scalar of the value's type; a Double that float32 can hold becomes float32.
    public convenience init<T: HasDType>(_ value: T) {
        if let double = value as? Double, Swift.abs(double) < Double(Float.greatestFiniteMagnitude) {
            self.init(cmlx_array_scalar(double, CMLX_FLOAT32))
        } else {
            self.init(orNone: withUnsafeBytes(of: value) { Self.copy($0, [Int](), T.dtype) })
        }
    }

    /// A bfloat16 scalar.
    public convenience init(bfloat16 value: Float32) {
        self.init(cmlx_array_scalar(Double(value), CMLX_BFLOAT16))
    }

    /// A scalar of a type.
    public convenience init<T: HasDType>(_ value: T, dtype: DType) {
        if T.dtype == dtype {
            self.init(orNone: withUnsafeBytes(of: value) { Self.copy($0, [Int](), dtype) })
        } else if let value = value as? any BinaryFloatingPoint {
            self.init(number: Double(value), dtype: dtype)
        } else if let value = value as? any BinaryInteger {
            self.init(number: value, dtype: dtype)
        } else {
            report("can't make an array of type \(dtype) from a \(T.self)")
            self.init(orNone: nil)
        }
    }

    /// A floating point number in any type; integers cut the fraction off.
    convenience init(number: Double, dtype: DType) {
        if dtype == .bool {
            self.init(number != 0)
        } else if !dtype.isInteger {
            self.init(cmlx_array_scalar(number, dtype.code))
        } else if let whole = Int64(exactly: number.rounded(.towardZero)) {
            self.init(number: whole, dtype: dtype)
        } else {
            report("\(number) doesn't fit \(dtype)")
            self.init(orNone: nil)
        }
    }

    /// An integer in any type.
    convenience init(number: some BinaryInteger, dtype: DType) {
        if dtype == .bool {
            self.init(number != 0)
        } else if !dtype.isInteger {
            self.init(cmlx_array_scalar(Double(number), dtype.code))
        } else if let bits = bits(of: number, dtype) {
            self.init(cmlx_array_scalar_int(bits, dtype.code))
        } else {
            report("\(number) doesn't fit \(dtype)")
            self.init(orNone: nil)
        }
    }

    /// Elements in row-major order; without a shape, one axis.
    public convenience init<T: HasDType>(
        _ value: [T], _ shape: (some Collection<Int>)? = [Int]?.none
    ) {
        self.init(orNone: value.withUnsafeBytes { Self.copy($0, shape, T.dtype) })
    }

    /// Elements as int32; a larger number is an error.
    public convenience init(_ value: [Int], _ shape: (some Collection<Int>)? = [Int]?.none) {
        let narrow = value.compactMap { Int32(exactly: $0) }
        if narrow.count != value.count {
            report("integers that don't fit int32: use MLXArray(int64:)")
        }
        self.init(orNone: narrow.withUnsafeBytes { Self.copy($0, shape, .int32) })
    }

    /// Elements as int64.
    public convenience init(int64 value: [Int], _ shape: (some Collection<Int>)? = [Int]?.none) {
        self.init(orNone: value.withUnsafeBytes { Self.copy($0, shape, .int64) })
    }

    /// Elements as float32.
    public convenience init(
        converting value: [Double], _ shape: (some Collection<Int>)? = [Int]?.none
    ) {
        self.init(value.map { Float($0) }, shape)
    }

    /// Not available: say `MLXArray(converting:)`.
    @available(
        *, unavailable, renamed: "MLXArray(converting:shape:)",
        message: "Use MLXArray(converting: [1.0, 2.0, ...]) instead"
    )
    public convenience init(_ value: [Double], _ shape: (some Collection<Int>)? = [Int]?.none) {
        fatalError("unavailable")
    }

    /// Elements of a sequence; integers become int32.
    public convenience init<S: Sequence>(
        _ sequence: S, _ shape: (some Collection<Int>)? = [Int]?.none
    )
    where S.Element: HasDType {
        let elements = Array(sequence)
        if let integers = elements as? [Int] {
            self.init(integers, shape)
        } else {
            self.init(elements, shape)
        }
    }

    /// Elements of a sequence as int64.
    public convenience init(
        int64 sequence: some Sequence<Int>, _ shape: (some Collection<Int>)? = [Int]?.none
    ) {
        self.init(int64: Array(sequence), shape)
    }

    /// A copy of a buffer's elements.
    public convenience init<T: HasDType>(
        _ ptr: UnsafeBufferPointer<T>, _ shape: (some Collection<Int>)? = [Int]?.none
    ) {
        self.init(orNone: Self.copy(UnsafeRawBufferPointer(ptr), shape, T.dtype))
    }

    /// A copy of a buffer's bytes, read as elements of a type.
    public convenience init(
        _ ptr: UnsafeRawBufferPointer, _ shape: (some Collection<Int>)? = [Int]?.none,
        type: (some HasDType).Type
    ) {
        self.init(orNone: Self.copy(ptr, shape, type.dtype))
    }

    /// A copy of bytes, read as elements of a type.
    public convenience init(
        _ data: Data, _ shape: (some Collection<Int>)? = [Int]?.none, type: (some HasDType).Type
    ) {
        self.init(data, shape, dtype: type.dtype)
    }

    /// A copy of bytes, read as elements of a type.
    public convenience init(
        _ data: Data, _ shape: (some Collection<Int>)? = [Int]?.none, dtype: DType
    ) {
        self.init(orNone: data.withUnsafeBytes { Self.copy($0, shape, dtype) })
    }

    /// The array that `asData` described.
    public convenience init(data: MLXArrayData) {
        self.init(data.data, data.shape, dtype: data.dType)
    }
}

extension MLXArray: ExpressibleByArrayLiteral {
    /// Elements as int32.
    public convenience init(arrayLiteral elements: Int32...) {
        self.init(elements)
    }
}

/// The 64 bits of an integer if it is in the range of `dtype`, else nil.
private func bits(of number: some BinaryInteger, _ dtype: DType) -> Int64? {
    switch dtype {
    case .uint8: UInt8(exactly: number).map(Int64.init)
    case .uint16: UInt16(exactly: number).map(Int64.init)
    case .uint32: UInt32(exactly: number).map(Int64.init)
    case .uint64: UInt64(exactly: number).map(Int64.init(bitPattern:))
    case .int8: Int8(exactly: number).map(Int64.init)
    case .int16: Int16(exactly: number).map(Int64.init)
    case .int32: Int32(exactly: number).map(Int64.init)
    default: Int64(exactly: number)
    }
}
