// The array: a reference to a node of MLX's lazily evaluated graph, or to data.
import CMLX

/// An n-dimensional array. Ops build a graph; `eval`, `item` or reading the elements computes it.
public final class MLXArray {
    /// The C handle; nil for `mlxNone` and for what a failed call returned.
    package private(set) var handle: OpaquePointer?

    /// Takes over a handle, or nothing; for callers that have reported why.
    init(orNone handle: OpaquePointer?) {
        self.handle = handle
    }

    /// Takes over a handle that a C function returned, and reports its error if there is none.
    package init(_ handle: OpaquePointer?) {
        self.handle = handle
        check(handle != nil)
    }

    /// No array: for parameters that are optional in MLX. Using it as an operand is an error.
    public static var mlxNone: MLXArray {
        MLXArray(orNone: nil)
    }

    deinit {
        cmlx_array_free(handle)
    }

    /// Bytes of one element.
    public var itemSize: Int { cmlx_array_itemsize(handle) }

    /// The number of elements.
    public var size: Int { cmlx_array_size(handle) }

    /// The length of the first axis.
    public var count: Int { dim(0) }

    /// Bytes of all elements.
    public var nbytes: Int { cmlx_array_nbytes(handle) }

    /// The number of axes.
    public var ndim: Int { cmlx_array_ndim(handle) }

    /// The element type.
    public var dtype: DType { DType(cmlx_array_dtype(handle)) }

    /// The length of each axis.
    public var shape: [Int] {
        guard let lengths = cmlx_array_shape(handle) else { return [] }
        return (0 ..< ndim).map { Int(lengths[$0]) }
    }

    /// The shape of a matrix.
    public var shape2: (Int, Int) {
        let shape = shape(of: 2)
        return (shape[0], shape[1])
    }

    /// The shape of an array with three axes.
    public var shape3: (Int, Int, Int) {
        let shape = shape(of: 3)
        return (shape[0], shape[1], shape[2])
    }

    /// The shape of an array with four axes.
    public var shape4: (Int, Int, Int, Int) {
        let shape = shape(of: 4)
        return (shape[0], shape[1], shape[2], shape[3])
    }

    /// The shape if the array has `count` axes; else reports and gives zeros (upstream stops the process).
    private func shape(of count: Int) -> [Int] {
        let shape = self.shape
        if shape.count == count { return shape }
        report("expected an array with \(count) axes, found the shape \(shape)")
        return Array(repeating: 0, count: count)
    }

    /// The stride of each axis in elements; meaningful after evaluation.
    var internalStrides: [Int] {
        guard let strides = cmlx_array_strides(handle) else { return [] }
        return (0 ..< ndim).map { Int(strides[$0]) }
    }

    /// The length of an axis; negative axes count from the end.
    public func dim(_ dim: Int) -> Int {
        let axis = dim < 0 ? dim + ndim : dim
        guard let lengths = cmlx_array_shape(handle), (0 ..< ndim).contains(axis) else {
            report("the array has no axis \(dim): its shape is \(shape)")
            return 0
        }
        return Int(lengths[axis])
    }

    /// The one element of an array of size 1.
    public func item<T: HasDType>() -> T {
        item(T.self)
    }

    /// The one element of an array of size 1, converted.
    public func item<T: HasDType>(_ type: T.Type) -> T {
        var value: any HasDType
        switch type {
        case is Bool.Type: value = scalar(false)
        case is Int.Type: value = scalar(0 as Int)
        case is Int8.Type: value = scalar(0 as Int8)
        case is Int16.Type: value = scalar(0 as Int16)
        case is Int32.Type: value = scalar(0 as Int32)
        case is Int64.Type: value = scalar(0 as Int64)
        case is UInt.Type: value = scalar(0 as UInt)
        case is UInt8.Type: value = scalar(0 as UInt8)
        case is UInt16.Type: value = scalar(0 as UInt16)
        case is UInt32.Type: value = scalar(0 as UInt32)
        case is UInt64.Type: value = scalar(0 as UInt64)
        case is Float.Type: value = scalar(0 as Float)
        case is Double.Type: value = scalar(0 as Double)
        default:
            #if !arch(x86_64)
            value = Float16(scalar(0 as Float))
            #else
            value = false
            #endif
        }
        guard let result = value as? T else { fatalError("item() can't return \(type)") }
        return result
    }

    /// Reads the element as the type of `zero`, which is returned on failure.
    private func scalar<T: HasDType>(_ zero: T) -> T {
        var result = zero
        let succeeded = evalLock.withLock {
            withUnsafeMutableBytes(of: &result) { cmlx_array_item(handle, T.dtype.code, $0.baseAddress) }
        }
        check(succeeded)
        return result
    }

    /// The elements in another type.
    public func asType(_ type: DType, stream: StreamOrDevice = .default) -> MLXArray {
        type == dtype ? self : MLXArray(cmlx_astype(handle, type.code, stream.ctx))
    }

    /// The elements in another type.
    public func asType(_ type: (some HasDType).Type, stream: StreamOrDevice = .default) -> MLXArray {
        asType(type.dtype, stream: stream)
    }

    /// Computes the array.
    public func eval() {
        MLX.eval([self])
    }

    /// Makes this object stand for another array: how `a[...] = b` and `a += b` change a variable that others share.
    public func _updateInternal(_ array: MLXArray) {
        let replacement = array.handle.flatMap { cmlx_array_retain($0) }
        cmlx_array_free(handle)
        handle = replacement
    }

    /// Another object for the same array.
    func copyContext() -> MLXArray {
        MLXArray(cmlx_array_retain(handle))
    }
}

extension MLXArray: Updatable, Evaluatable {
    /// The array itself.
    public func innerState() -> [MLXArray] {
        [self]
    }
}

extension MLXArray: CustomStringConvertible {
    /// The evaluated elements, as MLX prints them.
    public var description: String {
        guard let text = evalLock.withLock({ cmlx_array_description(handle) }) else { return "mlxNone" }
        defer { cmlx_string_free(text) }
        return String(cString: text)
    }
}

/// Something whose arrays a compiled function may change.
public protocol Updatable {
    /// The arrays.
    func innerState() -> [MLXArray]
}

/// Something whose arrays can be evaluated.
public protocol Evaluatable {
    /// The arrays.
    func innerState() -> [MLXArray]
}

extension [MLXArray]: Updatable, Evaluatable {
    /// The arrays themselves.
    public func innerState() -> [MLXArray] {
        self
    }
}

extension Sequence<Int> {
    /// The numbers as the C side takes them; what doesn't fit becomes the nearest number, and MLX refuses it.
    var asInt32: [Int32] {
        map { Int32(clamping: $0) }
    }
}

extension Int {
    /// The number as the C side takes it; what doesn't fit becomes the nearest number, and MLX refuses it.
    var int32: Int32 { Int32(clamping: self) }
}

extension Collection<MLXArray> {
    /// The handles, in order. The arrays must outlive their use.
    package var handles: [OpaquePointer?] { map(\.handle) }
}

/// The arrays of a list that a C function returned; frees the list.
func arrays(_ list: OpaquePointer?) -> [MLXArray] {
    guard let list else {
        check(false)
        return []
    }
    defer { cmlx_list_free(list) }
    return (0 ..< cmlx_list_count(list)).map { MLXArray(cmlx_list_get(list, $0)) }
}
