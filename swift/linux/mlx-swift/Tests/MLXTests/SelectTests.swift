// Taking, sorting and `array[...]` against Python's MLX.
import MLX
import Testing

@Suite struct SelectTests {
    @Test func takingPuttingAndSorting() throws {
        try withGolden { golden in
            let (x, logits, square) = (try golden["x"], try golden["logits"], try golden["square"])
            let positions = try golden["positions"]
            try golden.expect("take", take(golden["grid"], golden["few"], axis: 0))
            try golden.expect("take.flat", x.take(positions))
            try golden.expect("take_along_axis", takeAlong(x, positions, axis: -1))
            try golden.expect("put_along_axis", putAlong(x, positions, values: MLXArray(9.0), axis: -1))
            try golden.expect("argsort", argSort(x, axis: 1))
            try golden.expect("sort", sorted(x, axis: -1))
            try golden.expect("sort.flat", sorted(x.flattened()))
            try golden.expect("partition", partitioned(logits, kth: 3, axis: -1)[.ellipsis, 3])
            let largest = argPartition(logits, kth: -3, axis: -1)[.ellipsis, (-3)...]
            try golden.expect("argpartition", sorted(largest, axis: -1))
            try golden.expect("topk", sorted(top(logits, k: 4, axis: -1), axis: -1))
            try golden.expect("tril", tril(square, k: 1))
            try golden.expect("triu", triu(square, k: -1))
            try golden.expect("diag", diag(golden["row"], k: 1))
        }
    }

    @Test func readingByPositionAndRange() throws {
        try withGolden { golden in
            let grid = try golden["grid"]
            try golden.expect("index.int", grid[2])
            try golden.expect("index.negative", grid[-1, 3])
            try golden.expect("index.range", grid[1 ..< 3, 0..., 2...])
            try golden.expect("index.range", grid[1 ... 2, .ellipsis, 2 ... 6])
            try golden.expect("index.stride", grid[.stride(by: 2), .ellipsis, .stride(by: -3)])
            try golden.expect("index.ellipsis", grid[.ellipsis, 4])
            try golden.expect("index.newaxis", grid[0..., .newAxis, 2, .ellipsis, .newAxis])
            try golden.expect("in.grid", grid[.ellipsis])
            try golden.expect("index.int", grid[[2]])
            #expect(grid.map { $0.shape } == Array(repeating: [6, 7], count: 5))
        }
    }

    @Test func readingByArray() throws {
        try withGolden { golden in
            let (grid, few, positions) = (try golden["grid"], try golden["few"], try golden["positions"])
            try golden.expect("index.array", grid[few])
            try golden.expect("index.array.second", grid[0..., few])
            try golden.expect("index.array.middle", grid[1 ..< 4, few, 2 ..< 5])
            try golden.expect("index.array.pair", grid[few, few + 1])
            try golden.expect("index.array.apart", grid[few, 0..., few])
            try golden.expect("index.array.int", grid[few, 2])
            try golden.expect("index.int.array", grid[2, few])
            try golden.expect("index.int.slice.array", grid[2, 1 ..< 4, few])
            try golden.expect("index.array.newaxis", grid[few, .newAxis, few])
            try golden.expect("index.array.2d", grid[0..., positions[0] % 6, 1])
        }
    }

    /// The grid after an assignment.
    private func updated(_ golden: Golden, _ change: (inout MLXArray) throws -> Void) throws -> MLXArray {
        var copy = try golden["grid"] + 0
        try change(&copy)
        return copy
    }

    @Test func writingByPositionAndRange() throws {
        try withGolden { golden in
            let (update, wide) = (try golden["update"], try golden["updateWide"])
            func expect(_ name: String, _ change: (inout MLXArray) throws -> Void) throws {
                try golden.expect(name, updated(golden, change))
            }
            try expect("set.int") { $0[2] = MLXArray(1.5) }
            try expect("set.range") { $0[1 ..< 3, 0 ..< 2, 4] = update }
            try expect("set.row") { $0[2 ..< 5, 3] = wide }
            try expect("set.stride") { $0[.stride(to: 5, by: 2), .ellipsis, .stride(by: 3)] = MLXArray(-1.0) }
            try expect("set.ellipsis") { $0[.ellipsis, 0] = MLXArray(4.0) }
            try expect("set.newaxis") { $0[1, .newAxis, 0 ..< 2] = try golden["grid"][0, .newAxis, 2 ..< 4] }
        }
    }

    @Test func writingByArray() throws {
        try withGolden { golden in
            let (grid, wide) = (try golden["grid"], try golden["updateWide"])
            let (rows, columns) = (MLXArray([0, 3]), MLXArray([1, 5]))
            func expect(_ name: String, _ change: (inout MLXArray) throws -> Void) throws {
                try golden.expect(name, updated(golden, change))
            }
            try expect("set.array") { $0[rows] = MLXArray(2.0) }
            try expect("set.array.range") { $0[MLXArray([4, 1, 0]), 2 ..< 3] = wide[0..., .newAxis] }
            try expect("set.array.pair") { $0[rows, columns] = wide[..<2] }
            try expect("set.range.array") { $0[1 ..< 3, MLXArray([5, 0])] = MLXArray([1, 2] as [Float], [2, 1]) }
            try expect("set.array.apart") { $0[rows, 0..., columns] = grid[..<2, 0..., 0] }
            try expect("set.int.array") { $0[2, columns] = wide[..<2] }
        }
    }

    @Test func writingChangesTheObjectForAllWhoHoldIt() throws {
        try withError {
            let a = MLXArray([1, 2, 3])
            let same = a
            a[1] = MLXArray(9)
            #expect(same.asArray(Int.self) == [1, 9, 3])
        }
    }
}
