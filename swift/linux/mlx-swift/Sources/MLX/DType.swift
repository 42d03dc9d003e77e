// Element types, and how Swift's scalars become arrays. Same rules as upstream: a scalar takes the dtype of the array
// that it meets, and a Double never widens an array to float64.
import CMLX

/// The type of an array's elements.
public enum DType: Hashable, Sendable, CaseIterable {
    case bool
    case uint8
    case uint16
    case uint32
    case uint64
    case int8
    case int16
    case int32
    case int64
    case float16
    case float32
    case bfloat16
    case complex64
    case float64

    /// The type with the number that cmlx.h gives it.
    package init(_ code: cmlx_dtype) {
        self = DType.allCases.first { $0.code == code } ?? .float32
    }

    /// The number that cmlx.h gives this type.
    package var code: cmlx_dtype {
        switch self {
        case .bool: CMLX_BOOL
        case .uint8: CMLX_UINT8
        case .uint16: CMLX_UINT16
        case .uint32: CMLX_UINT32
        case .uint64: CMLX_UINT64
        case .int8: CMLX_INT8
        case .int16: CMLX_INT16
        case .int32: CMLX_INT32
        case .int64: CMLX_INT64
        case .float16: CMLX_FLOAT16
        case .float32: CMLX_FLOAT32
        case .bfloat16: CMLX_BFLOAT16
        case .complex64: CMLX_COMPLEX64
        case .float64: CMLX_FLOAT64
        }
    }

    /// Whether elements have a fraction; complex counts.
    public var isFloatingPoint: Bool {
        switch self {
        case .float16, .float32, .bfloat16, .complex64, .float64: true
        default: false
        }
    }

    /// Whether elements have an imaginary part.
    public var isComplex: Bool {
        self == .complex64
    }

    /// Whether elements are integers; bool doesn't count.
    public var isInteger: Bool {
        switch self {
        case .uint8, .uint16, .uint32, .uint64: true
        default: isSignedInteger
        }
    }

    /// Whether elements are integers with a sign.
    public var isSignedInteger: Bool {
        switch self {
        case .int8, .int16, .int32, .int64: true
        default: false
        }
    }

    /// Bytes of one element.
    public var size: Int {
        switch self {
        case .bool, .uint8, .int8: 1
        case .uint16, .int16, .float16, .bfloat16: 2
        case .uint32, .int32, .float32: 4
        case .uint64, .int64, .complex64, .float64: 8
        }
    }

    /// Limits of a floating point type; nil for others.
    public var finfo: FInfo? {
        isFloatingPoint ? FInfo(dtype: self) : nil
    }

    /// Limits of a floating point type.
    public struct FInfo: Sendable {
        /// The type in question.
        public let dtype: DType

        private var limits: (eps: Double, max: Double, normal: Double, subnormal: Double) {
            switch dtype {
            case .float16: (0x1p-10, 65504, 0x1p-14, 0x1p-24)
            case .bfloat16: (0x1p-7, 0x1.FEp127, 0x1p-126, 0x1p-126)
            case .float64, .complex64:
                (.ulpOfOne, .greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude)
            default:
                (
                    Double(Float.ulpOfOne), Double(Float.greatestFiniteMagnitude),
                    Double(Float.leastNormalMagnitude), Double(Float.leastNonzeroMagnitude)
                )
            }
        }

        /// The distance from 1 to the next larger number.
        public var eps: Double { limits.eps }
        /// The smallest finite number.
        public var min: Double { -limits.max }
        /// The largest finite number.
        public var max: Double { limits.max }
        /// The smallest positive normal number.
        public var smallestNormal: Double { limits.normal }
        /// The smallest positive number; for bfloat16, as upstream, the smallest normal one.
        public var smallestSubnormal: Double { limits.subnormal }
    }
}

/// A scalar or an array: what ops take beside an array.
public protocol ScalarOrArray {
    /// The value as an array; a scalar uses `dtype` where it can hold the value's kind.
    func asMLXArray(dtype: DType?) -> MLXArray
}

/// A scalar that has an element type.
public protocol HasDType: ScalarOrArray {
    /// The element type of this Swift type.
    static var dtype: DType { get }
}

extension HasDType {
    /// The scalar as an array of `dtype`, else of its own type.
    public func asMLXArray(dtype: DType?) -> MLXArray {
        MLXArray(self, dtype: dtype ?? Self.dtype)
    }
}

extension HasDType where Self: BinaryInteger {
    /// The integer as an array; a bool array doesn't make a bool of it.
    func integerArray(dtype: DType?, own: DType) -> MLXArray {
        let dtype = dtype ?? own
        return MLXArray(number: self, dtype: dtype == .bool ? own : dtype)
    }
}

extension HasDType where Self: BinaryFloatingPoint {
    /// The number as an array; an integer array doesn't make an integer of it.
    func floatArray(dtype: DType?, own: DType) -> MLXArray {
        let dtype = dtype ?? own
        return MLXArray(number: Double(self), dtype: dtype.isFloatingPoint ? dtype : own)
    }
}

extension Bool: HasDType {
    static public var dtype: DType { .bool }
}

extension Int: HasDType {
    static public var dtype: DType { .int64 }
    /// The integer as an array, int32 unless told otherwise.
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: .int32) }
}

extension Int8: HasDType {
    static public var dtype: DType { .int8 }
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: Self.dtype) }
}

extension Int16: HasDType {
    static public var dtype: DType { .int16 }
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: Self.dtype) }
}

extension Int32: HasDType {
    static public var dtype: DType { .int32 }
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: Self.dtype) }
}

extension Int64: HasDType {
    static public var dtype: DType { .int64 }
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: Self.dtype) }
}

extension UInt8: HasDType {
    static public var dtype: DType { .uint8 }
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: Self.dtype) }
}

extension UInt16: HasDType {
    static public var dtype: DType { .uint16 }
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: Self.dtype) }
}

extension UInt32: HasDType {
    static public var dtype: DType { .uint32 }
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: Self.dtype) }
}

extension UInt64: HasDType {
    static public var dtype: DType { .uint64 }
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: Self.dtype) }
}

extension UInt: HasDType {
    static public var dtype: DType { .uint64 }
    public func asMLXArray(dtype: DType?) -> MLXArray { integerArray(dtype: dtype, own: Self.dtype) }
}

#if !arch(x86_64)
extension Float16: HasDType {
    static public var dtype: DType { .float16 }
    public func asMLXArray(dtype: DType?) -> MLXArray { floatArray(dtype: dtype, own: Self.dtype) }
}
#endif

extension Float32: HasDType {
    static public var dtype: DType { .float32 }
    public func asMLXArray(dtype: DType?) -> MLXArray { floatArray(dtype: dtype, own: Self.dtype) }
}

extension Float64: HasDType {
    static public var dtype: DType { .float64 }
    /// The number as an array, float32 unless told otherwise.
    public func asMLXArray(dtype: DType?) -> MLXArray { floatArray(dtype: dtype, own: .float32) }
}

extension MLXArray: ScalarOrArray {
    /// The array itself; its dtype stays.
    public func asMLXArray(dtype: DType?) -> MLXArray {
        self
    }
}

extension Array: ScalarOrArray where Element: HasDType {
    /// The elements as a one-dimensional array.
    public func asMLXArray(dtype: DType?) -> MLXArray {
        MLXArray(self).asType(dtype ?? Element.dtype)
    }
}

/// Both operands as arrays; a scalar beside an array takes its dtype.
public func toArrays(_ a: some ScalarOrArray, _ b: some ScalarOrArray) -> (MLXArray, MLXArray) {
    switch (a as? MLXArray, b as? MLXArray) {
    case (let a?, let b?): (a, b)
    case (let a?, nil): (a, b.asMLXArray(dtype: a.dtype))
    case (nil, let b?): (a.asMLXArray(dtype: b.dtype), b)
    case (nil, nil): (a.asMLXArray(dtype: nil), b.asMLXArray(dtype: nil))
    }
}
