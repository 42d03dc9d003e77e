// Writing `array[...] = update`. Without index arrays it is one slice update, which MLX does in place when nothing else
// refers to the old array; with index arrays it is a scatter.
import CMLX

extension MLXArray {
    /// Replaces the part that the entries name, and makes this object stand for the result.
    func update(_ operations: [MLXArrayIndexOperation], _ update: MLXArray, _ stream: StreamOrDevice) {
        guard let operations = expanded(operations) else { return }
        let update = update.dtype == dtype ? update : update.asType(dtype, stream: stream)
        let result =
            operations.contains(where: \.isArray)
            ? scattered(operations, update, stream) : sliceUpdated(operations, update, stream)
        if result.handle != nil { _updateInternal(result) }
    }

    private func sliceUpdated(
        _ operations: [MLXArrayIndexOperation], _ update: MLXArray, _ stream: StreamOrDevice
    ) -> MLXArray {
        guard let bounds = bounds(of: operations) else { return MLXArray(orNone: nil) }
        let update = update.fitted(to: operations, of: self, stream)
        return MLXArray(
            cmlx_slice_update(
                handle, update.handle, bounds.starts, bounds.ends, bounds.strides, ndim, stream.ctx))
    }

    /// The update with one axis for each of the target's axes: 1 where a single position drops the target's axis, and
    /// without the axes that `.newAxis` adds.
    private func fitted(
        to operations: [MLXArrayIndexOperation], of target: MLXArray, _ stream: StreamOrDevice
    ) -> MLXArray {
        let shape = Array(self.shape.drop { $0 == 1 })
        var newShape = [Int]()
        var rest = shape[...]
        let axes = operations.count { !$0.isNewAxis }
        for _ in axes ..< Swift.max(axes, target.ndim) { newShape.append(rest.popLast() ?? 1) }
        for operation in operations.reversed() {
            switch operation {
            case .newAxis: if rest.last == 1 { rest.removeLast() }
            case .index: newShape.append(1)
            default: newShape.append(rest.popLast() ?? 1)
            }
        }
        guard rest.isEmpty else {
            report("can't put an array of shape \(self.shape) into \(operations) of shape \(target.shape)")
            return MLXArray(orNone: nil)
        }
        return reshaped(newShape.reversed(), stream: stream)
    }

    /// A scatter: every entry becomes an index array, and the update gets an axis of 1 for each scattered axis.
    private func scattered(
        _ operations: [MLXArrayIndexOperation], _ update: MLXArray, _ stream: StreamOrDevice
    ) -> MLXArray {
        guard let scatter = scatterArguments(operations, update, stream) else { return MLXArray(orNone: nil) }
        return withExtendedLifetime(scatter) {
            MLXArray(
                cmlx_scatter(
                    handle, scatter.indices.handles, scatter.indices.count, scatter.updates.handle, scatter.axes,
                    scatter.axes.count, stream.ctx))
        }
    }

    /// What the scatter ops take for the entries.
    func scatterArguments(
        _ operations: [MLXArrayIndexOperation], _ update: MLXArray, _ stream: StreamOrDevice
    ) -> (indices: [MLXArray], updates: MLXArray, axes: [Int32])? {
        let plain = operations.filter { !$0.isNewAxis }
        let arrayAxes = plain.map { if case .array(let array) = $0 { array.ndim } else { 0 } }.max() ?? 0
        let slices = plain.count { !$0.isArrayOrIndex }
        guard let first = plain.firstIndex(where: \.isArrayOrIndex),
            let last = plain.lastIndex(where: \.isArrayOrIndex)
        else { return nil }
        // The place of the indices' axes among the axes of the part: as in reading.
        let adjacent = plain[first ... last].allSatisfy(\.isArrayOrIndex)
        let place = adjacent ? plain[..<first].count { !$0.isArrayOrIndex } : 0

        var indices = [MLXArray]()
        var slice = 0
        for (axis, operation) in plain.enumerated() {
            var form = [Int](repeating: 1, count: arrayAxes + slices)
            switch operation {
            case .array(let array):
                form.replaceSubrange(place + arrayAxes - array.ndim ..< place + arrayAxes, with: array.shape)
                indices.append(array.reshaped(form, stream: stream))
            case .index(let index):
                indices.append(MLXArray(index < 0 ? index + dim(axis).int32 : index))
            case .slice(let range):
                let positions = Array(
                    Swift.stride(
                        from: range.absoluteStart(dim(axis).int32), to: range.absoluteEnd(dim(axis).int32),
                        by: Int(range.stride)))
                form[slice < place ? slice : slice + arrayAxes] = positions.count
                indices.append(MLXArray(positions, form))
                slice += 1
            case .newAxis, .ellipsis: continue
            }
        }
        let spread = broadcast(arrays: indices, stream: stream)
        guard let part = spread.first?.shape else { return nil }
        let rest = Array(shape.dropFirst(plain.count))
        let ones = [Int](repeating: 1, count: plain.count)
        let trimmed = update.reshaped(Array(update.shape.drop { $0 == 1 }), stream: stream)
        let updates = broadcast(trimmed, to: part + rest, stream: stream)
            .reshaped(part + ones + rest, stream: stream)
        return (spread, updates, Array(0 ..< plain.count.int32))
    }
}

/// The arrays in their common shape.
func broadcast(arrays handles: some Collection<MLXArray>, stream: StreamOrDevice = .default) -> [MLXArray] {
    withExtendedLifetime(handles) {
        arrays(cmlx_broadcast_arrays(handles.handles, handles.count, stream.ctx))
    }
}
