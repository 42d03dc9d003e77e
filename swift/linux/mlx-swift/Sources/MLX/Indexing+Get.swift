// Reading `array[...]`. Three stages: slices and single positions become one slice op; if there are index arrays, one
// gather over the axes that they and the single positions name; then a reshape that drops and adds axes.
import CMLX

extension MLXArray {
    /// The part that the entries name.
    func part(_ operations: [MLXArrayIndexOperation], _ stream: StreamOrDevice) -> MLXArray {
        if operations.count == 1 {
            switch operations[0] {
            case .newAxis: return expandedDimensions(axis: 0, stream: stream)
            case .array(let indices): return take(indices, axis: 0, stream: stream)
            case .ellipsis, .index, .slice: break
            }
        }
        guard let operations = expanded(operations) else { return MLXArray(orNone: nil) }
        return operations.contains(where: \.isArray)
            ? gathered(operations, stream) : sliced(operations, stream)
    }

    /// Replaces an ellipsis by full slices; reports entries that don't fit the shape.
    func expanded(_ operations: [MLXArrayIndexOperation]) -> [MLXArrayIndexOperation]? {
        let axes = operations.count { !$0.isNewAxis && !$0.isEllipsis }
        let ellipses = operations.count { $0.isEllipsis }
        guard ellipses <= 1, axes <= ndim else {
            report("can't index an array of shape \(shape) with \(operations)")
            return nil
        }
        guard let place = operations.firstIndex(where: \.isEllipsis) else { return operations }
        var result = operations
        result.replaceSubrange(
            place ... place, with: Array(repeating: .slice(.full), count: ndim - axes))
        return result
    }

    /// Slices each axis and then reshapes, if there are single positions or new axes. No index arrays.
    private func sliced(_ operations: [MLXArrayIndexOperation], _ stream: StreamOrDevice) -> MLXArray {
        guard let bounds = bounds(of: operations) else { return MLXArray(orNone: nil) }
        let result = bounds.isFull(self) ? self : slice(bounds, stream)
        guard operations.contains(where: { $0.isNewAxis || $0.isArrayOrIndex }) else {
            return result === self ? slice(bounds, stream) : result
        }
        var newShape = [Int]()
        var axis = 0
        for operation in operations {
            switch operation {
            case .newAxis: newShape.append(1)
            case .index: axis += 1
            default:
                newShape.append(result.dim(axis))
                axis += 1
            }
        }
        newShape.append(contentsOf: result.shape.dropFirst(axis))
        return result.reshaped(newShape, stream: stream)
    }

    private func slice(_ bounds: SliceBounds, _ stream: StreamOrDevice) -> MLXArray {
        MLXArray(cmlx_slice(handle, bounds.starts, bounds.ends, bounds.strides, ndim, stream.ctx))
    }

    /// Gathers over the axes of index arrays and single positions. Slices before the last of these are applied to the
    /// source first, so that the gather takes their axes whole; new axes are put in at the end.
    private func gathered(_ operations: [MLXArrayIndexOperation], _ stream: StreamOrDevice) -> MLXArray {
        let plain = operations.filter { !$0.isNewAxis }
        let onlySlices = plain.map { operation in
            if case .slice = operation { operation } else { MLXArrayIndexOperation.slice(.full) }
        }
        guard let bounds = bounds(of: onlySlices) else { return MLXArray(orNone: nil) }
        let source = bounds.isFull(self) ? self : slice(bounds, stream)

        var indices = [MLXArray]()
        var axes = [Int32]()
        var sizes = source.shape.asInt32
        for (axis, operation) in plain.enumerated() {
            switch operation {
            case .array(let array): indices.append(array)
            case .index(let index): indices.append(MLXArray(index < 0 ? index + dim(axis).int32 : index))
            default: continue
            }
            axes.append(axis.int32)
            sizes[axis] = 1
        }
        // [indices' broadcast shape..., 1 or the length of each source axis...]
        let result = MLXArray(
            cmlx_gather(
                source.handle, indices.handles, indices.count, axes, axes.count, sizes, sizes.count, stream.ctx))
        return withExtendedLifetime((source, indices)) {
            source.arrange(result, operations, gathered: axes, stream)
        }
    }

    /// Brings the axes of a gather's result into the order that the entries ask for. The indices' axes stand first if
    /// other entries are between the index entries, else where the index entries are (numpy's rule).
    private func arrange(
        _ result: MLXArray, _ operations: [MLXArrayIndexOperation], gathered: [Int32], _ stream: StreamOrDevice
    ) -> MLXArray {
        let indexAxes = Array(result.shape.dropLast(ndim))
        guard result.ndim >= ndim, let first = operations.firstIndex(where: \.isArrayOrIndex),
            let last = operations.lastIndex(where: \.isArrayOrIndex)
        else { return result }
        let adjacent = operations[first ... last].allSatisfy(\.isArrayOrIndex)

        // The lengths of the kept axes and of the new ones, with the place of the indices' axes among them.
        var lengths = [Int]()
        var keptBefore = 0
        var place = adjacent ? nil : 0
        var axis = 0
        for (number, operation) in operations.enumerated() {
            if adjacent && number == first {
                place = lengths.count
                keptBefore = axis
            }
            switch operation {
            case .newAxis: lengths.append(1)
            case .index, .array: axis += 1
            default:
                lengths.append(dim(axis))
                axis += 1
            }
        }
        lengths.append(contentsOf: shape.dropFirst(axis))
        var moved = result
        if adjacent && keptBefore > 0 {
            let count = indexAxes.count
            let order =
                Array(count ..< count + keptBefore) + Array(0 ..< count)
                + Array(count + keptBefore ..< result.ndim)
            moved = result.transposed(axes: order, stream: stream)
        }
        lengths.insert(contentsOf: indexAxes, at: place ?? 0)
        return moved.reshaped(lengths, stream: stream)
    }

    /// Start, end and stride of each axis for entries without index arrays and ellipsis.
    func bounds(of operations: [MLXArrayIndexOperation]) -> SliceBounds? {
        let lengths = shape.asInt32
        var bounds = SliceBounds(shape: lengths)
        var axis = 0
        for operation in operations {
            switch operation {
            case .index(let index):
                let position = index < 0 ? index + lengths[axis] : index
                guard (0 ..< lengths[axis]).contains(position) else {
                    report("index \(index) is out of bounds for axis \(axis) of shape \(shape)")
                    return nil
                }
                bounds.starts[axis] = position
                bounds.ends[axis] = position + 1
            case .slice(let slice):
                bounds.starts[axis] = slice.start(lengths[axis])
                bounds.ends[axis] = slice.end(lengths[axis])
                bounds.strides[axis] = slice.stride
            case .newAxis: continue
            case .array, .ellipsis: break
            }
            axis += 1
        }
        return bounds
    }
}

/// Start, end and stride of each axis, as the slice ops take them.
struct SliceBounds {
    var starts: [Int32]
    var ends: [Int32]
    var strides: [Int32]

    init(shape: [Int32]) {
        starts = Array(repeating: 0, count: shape.count)
        ends = shape
        strides = Array(repeating: 1, count: shape.count)
    }

    /// Whether the bounds are the whole array.
    func isFull(_ array: MLXArray) -> Bool {
        ends.indices.allSatisfy { starts[$0] == 0 && strides[$0] == 1 && Int(ends[$0]) == array.dim($0) }
    }
}
