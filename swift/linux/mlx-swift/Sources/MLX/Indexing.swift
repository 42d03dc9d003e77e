// What can stand between the brackets of `array[...]`, and the subscripts. The rules are numpy's, as upstream: an Int
// drops its axis, a range keeps it, `.ellipsis` fills up, `.newAxis` adds an axis of 1, an array gathers.
import CMLX

/// One entry between the brackets.
public enum MLXArrayIndexOperation: CustomStringConvertible {
    case ellipsis
    case newAxis
    case index(Int32)
    case slice(MLXSlice)
    case array(MLXArray)

    var isEllipsis: Bool {
        if case .ellipsis = self { true } else { false }
    }

    var isNewAxis: Bool {
        if case .newAxis = self { true } else { false }
    }

    var isArray: Bool {
        if case .array = self { true } else { false }
    }

    /// Whether the entry selects by position rather than by range.
    var isArrayOrIndex: Bool {
        switch self {
        case .index, .array: true
        default: false
        }
    }

    /// For error messages.
    public var description: String {
        switch self {
        case .ellipsis: ".ellipsis"
        case .newAxis: ".newAxis"
        case .index(let index): "\(index)"
        case .slice(let slice): "\(slice)"
        case .array(let array): "\(array.shape)(\(array.dtype))"
        }
    }
}

/// Something that can stand between the brackets.
public protocol MLXArrayIndex {
    /// What it means there.
    var mlxArrayIndexOperation: MLXArrayIndexOperation { get }
}

extension Int: MLXArrayIndex {
    /// One position; negative ones count from the end.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation { .index(int32) }
}

extension MLXArray: MLXArrayIndex {
    /// The positions in the array.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation { .array(self) }
}

/// All axes that the other entries leave.
public struct MLXEllipsisIndex: MLXArrayIndex, Sendable {
    /// The ellipsis.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation { .ellipsis }
}

extension MLXArrayIndex where Self == MLXEllipsisIndex {
    /// All axes that the other entries leave.
    public static var ellipsis: Self { Self() }
}

/// A new axis of length 1.
public struct MLXNewAxisIndex: MLXArrayIndex, Sendable {
    /// The new axis.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation { .newAxis }
}

extension MLXArrayIndex where Self == MLXNewAxisIndex {
    /// A new axis of length 1.
    public static var newAxis: Self { Self() }
}

/// A range with a stride; what is absent runs to the end.
public struct MLXSlice: Equatable, CustomStringConvertible, Sendable {
    private let first: Int32?
    private let last: Int32?
    private let step: Int32?

    /// Positions from `start` (included) to `end` (excluded); negative ones count from the end.
    public init(start: Int32? = nil, end: Int32? = nil, stride: Int32? = nil) {
        first = start
        last = end
        step = stride
    }

    static let full = MLXSlice()

    /// Whether the slice is the whole axis.
    public var isFull: Bool {
        stride == 1 && (first ?? 0) == 0 && last == nil
    }

    /// The distance between positions.
    public var stride: Int32 { step ?? 1 }

    /// The first position on an axis of length `size`, as given.
    public func start(_ size: Int32) -> Int32 {
        first ?? (stride < 0 ? size - 1 : 0)
    }

    /// The first position on an axis of length `size`, counted from the front.
    public func absoluteStart(_ size: Int32) -> Int32 {
        let start = start(size)
        return start < 0 ? start + size : start
    }

    /// The end on an axis of length `size`, as given.
    public func end(_ size: Int32) -> Int32 {
        last ?? (stride < 0 ? -size - 1 : size)
    }

    /// The end on an axis of length `size`, counted from the front.
    public func absoluteEnd(_ size: Int32) -> Int32 {
        let end = end(size)
        return end < 0 ? end + size : end
    }

    /// For error messages.
    public var description: String {
        let range = "\(first?.description ?? "") ..< \(last?.description ?? "")"
        return stride == 1 ? range : "\(range) : \(stride)"
    }
}

extension MLXSlice: MLXArrayIndex {
    /// The slice.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation { .slice(self) }
}

extension MLXArrayIndex where Self == MLXSlice {
    /// A range with a stride.
    public static func stride(from start: Int? = nil, to end: Int? = nil, by stride: Int? = nil)
        -> MLXSlice
    {
        MLXSlice(start: start?.int32, end: end?.int32, stride: stride?.int32)
    }
}

/// A range with a stride.
public func stride(from start: Int? = nil, to end: Int? = nil, by stride: Int? = nil)
    -> MLXSlice
{
    MLXSlice(start: start?.int32, end: end?.int32, stride: stride?.int32)
}

extension Range<Int>: MLXArrayIndex {
    /// The positions of the range.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation {
        .slice(MLXSlice(start: lowerBound.int32, end: upperBound.int32))
    }
}

extension ClosedRange<Int>: MLXArrayIndex {
    /// The positions of the range.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation {
        .slice(MLXSlice(start: lowerBound.int32, end: (upperBound + 1).int32))
    }
}

extension PartialRangeUpTo<Int>: MLXArrayIndex {
    /// The positions of the range.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation {
        .slice(MLXSlice(start: 0, end: upperBound.int32))
    }
}

extension PartialRangeThrough<Int>: MLXArrayIndex {
    /// The positions of the range.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation {
        .slice(MLXSlice(start: 0, end: (upperBound + 1).int32))
    }
}

extension PartialRangeFrom<Int>: MLXArrayIndex {
    /// The positions of the range.
    public var mlxArrayIndexOperation: MLXArrayIndexOperation {
        .slice(MLXSlice(start: lowerBound.int32))
    }
}

extension MLXArray {
    /// A part of the array; setting replaces the part in a new array that this object then stands for.
    public subscript(indices: any MLXArrayIndex..., stream stream: StreamOrDevice = .default)
        -> MLXArray
    {
        get { part(indices.map(\.mlxArrayIndexOperation), stream) }
        set { update(indices.map(\.mlxArrayIndexOperation), newValue, stream) }
    }

    /// A part of the array; setting replaces the part in a new array that this object then stands for.
    public subscript(indices: [any MLXArrayIndex], stream stream: StreamOrDevice = .default)
        -> MLXArray
    {
        get { part(indices.map(\.mlxArrayIndexOperation), stream) }
        set { update(indices.map(\.mlxArrayIndexOperation), newValue, stream) }
    }
}

extension MLXArray: Sequence {
    /// The parts `self[0]`, `self[1]`, … of the first axis.
    public func makeIterator() -> some IteratorProtocol<MLXArray> {
        (0 ..< count).lazy.map { self[$0] }.makeIterator()
    }
}
