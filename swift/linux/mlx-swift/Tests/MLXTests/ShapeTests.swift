// Ops on shape and place, and new arrays, against Python's MLX.
import MLX
import Testing

@Suite struct ShapeTests {
    @Test func axes() throws {
        try withGolden { golden in
            let (x, row) = (try golden["x"], try golden["row"])
            let results: [(String, [MLXArray])] = [
                ("reshape", [x.reshaped(4, -1), reshaped(x, [4, -1]), reshaped(x, 4, -1)]),
                ("transpose", [x.transposed(), x.T, transposed(x)]),
                ("transpose.axes", [x.transposed(1, 2, 0), x.transposed(axes: [1, 2, 0])]),
                ("swapaxes", [x.swappedAxes(0, -1), swappedAxes(x, 0, -1)]),
                ("moveaxis", [x.movedAxis(source: 0, destination: 2)]),
                ("expand_dims", [x.expandedDimensions(axes: [0, -1]), x[.newAxis, .ellipsis, .newAxis]]),
                ("squeeze", [x[..<1].squeezed(), squeezed(x[..<1], axes: [0])]),
                ("squeeze.axis", [x[0..., ..<1].squeezed(axis: 1)]),
                ("flatten", [x.flattened(start: 1, end: 2)]),
                ("unflatten", [unflatten(x, axis: -1, shape: [2, 4])]),
                ("broadcast_to", [broadcast(row, to: [2, 3, 8])]),
                ("view", [x.view(dtype: .uint32)]),
                ("astype.int", [(x * 10).asType(.int32), (x * 10).asType(Int32.self)]),
                ("astype.half", [x.asType(.bfloat16)]),
                ("as_strided", [asStrided(row, [3, 3], strides: [2, 1], offset: 1)]),
            ]
            for (name, forms) in results {
                for form in forms { try golden.expect(name, form) }
            }
            #expect(contiguous(x.T).asArray(Float.self) == x.T.asArray(Float.self))
        }
    }

    @Test func joiningSplittingAndRepeating() throws {
        try withGolden { golden in
            let (x, y, row) = (try golden["x"], try golden["y"], try golden["row"])
            try golden.expect("concatenate", concatenated([x, y], axis: 1))
            try golden.expect("stack", stacked([x, y], axis: -1))
            try golden.expect("split.1", x.split(parts: 4, axis: -1)[1])
            try golden.expect("split.at.2", split(x, indices: [3, 5], axis: -1)[2])
            let (first, second) = x.split(axis: -1)
            try golden.expect("in.x", concatenated([first, second], axis: -1))
            try golden.expect("repeat", repeated(x, count: 2, axis: 1))
            try golden.expect("repeat.flat", repeated(row, count: 3))
            try golden.expect("tile", tiled(x, repetitions: [2, 1, 2]))
            try golden.expect("roll", roll(x, shift: 3, axis: -1))
            try golden.expect("roll", roll(x, shift: 3, axes: [-1]))
            try golden.expect("roll.flat", roll(x, shift: 5))
            try golden.expect("pad", padded(x, widths: [[0, 1], [2, 0], 0], value: MLXArray(7.0)))
            try golden.expect("pad.edge", padded(x, width: 1, mode: .edge))
            try golden.expect("meshgrid.0", meshGrid([golden["few"], row], indexing: .ij)[0])
            try golden.expect("in.x", depends(input: x, dependencies: [y]))
        }
    }

    @Test func newArrays() throws {
        try withGolden { golden in
            try golden.expect("arange", arange(3, 20, step: 4))
            try golden.expect("arange.float", MLX.arange(0.5, 3.0, step: 0.5))
            try golden.expect("linspace", MLXArray.linspace(-1.0 as Float, 2.0, count: 7))
            try golden.expect("eye", eye(3, m: 5, k: 1))
            try golden.expect("tri", tri(4, m: 5, k: -1, dtype: .int32))
            try golden.expect("full", full([2, 3], values: MLXArray(2.5), dtype: .float16))
            #expect(MLXArray.zeros([2, 2], dtype: .bfloat16).dtype == .bfloat16)
            #expect(MLXArray.zeros([2, 2]).asArray(Float.self) == [0, 0, 0, 0])
            #expect(ones(like: MLXArray([1, 2])).asArray(Int32.self) == [1, 1])
            #expect(MLXArray.arange(3).asArray(Int.self) == [0, 1, 2])
            #expect(MLXArray.full([2], values: MLXArray(3)).asArray(Int32.self) == [3, 3])
        }
    }
}
