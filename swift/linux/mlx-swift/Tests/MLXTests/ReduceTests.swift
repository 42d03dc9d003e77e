// Reductions and running ops against Python's MLX: over some axes, one axis, all axes, as functions and methods.
import MLX
import Testing

@Suite struct ReduceTests {
    /// A reduction in its three forms.
    private func expectReduction(
        _ golden: Golden, _ name: String, axis: MLXArray, axes: MLXArray, all: MLXArray
    ) throws {
        try golden.expect("\(name).axis", axis)
        try golden.expect("\(name).axes", axes)
        try golden.expect("\(name).all", all)
    }

    @Test func functions() throws {
        try withGolden { golden in
            let (x, flag) = (try golden["x"], try golden["bool"])
            func expect(_ name: String, _ axis: MLXArray, _ axes: MLXArray, _ all: MLXArray) throws {
                try expectReduction(golden, name, axis: axis, axes: axes, all: all)
            }
            let both = [0, 2]
            try expect("sum", sum(x, axis: 1), sum(x, axes: both, keepDims: true), sum(x))
            try expect("mean", mean(x, axis: 1), mean(x, axes: both, keepDims: true), mean(x))
            try expect("max", max(x, axis: 1), max(x, axes: both, keepDims: true), max(x))
            try expect("min", min(x, axis: 1), min(x, axes: both, keepDims: true), min(x))
            try expect("prod", product(x, axis: 1), product(x, axes: both, keepDims: true), product(x))
            try expect("logsumexp", logSumExp(x, axis: 1), logSumExp(x, axes: both, keepDims: true), logSumExp(x))
            try expect("var", variance(x, axis: 1), variance(x, axes: both, keepDims: true), variance(x))
            try expect("std", std(x, axis: 1), std(x, axes: both, keepDims: true), std(x))
            try expect("all", all(flag, axis: 1), all(flag, axes: both, keepDims: true), all(flag))
            try expect("any", any(flag, axis: 1), any(flag, axes: both, keepDims: true), any(flag))
            try golden.expect("var.ddof", variance(x, axis: -1, ddof: 1))
        }
    }

    @Test func methods() throws {
        try withGolden { golden in
            let (x, flag) = (try golden["x"], try golden["bool"])
            func expect(_ name: String, _ axis: MLXArray, _ axes: MLXArray, _ all: MLXArray) throws {
                try expectReduction(golden, name, axis: axis, axes: axes, all: all)
            }
            let both = [0, 2]
            try expect("sum", x.sum(axis: 1), x.sum(axes: both, keepDims: true), x.sum())
            try expect("mean", x.mean(axis: 1), x.mean(axes: both, keepDims: true), x.mean())
            try expect("max", x.max(axis: 1), x.max(axes: both, keepDims: true), x.max())
            try expect("min", x.min(axis: 1), x.min(axes: both, keepDims: true), x.min())
            try expect("prod", x.product(axis: 1), x.product(axes: both, keepDims: true), x.product())
            try expect("logsumexp", x.logSumExp(axis: 1), x.logSumExp(axes: both, keepDims: true), x.logSumExp())
            try expect("var", x.variance(axis: 1), x.variance(axes: both, keepDims: true), x.variance())
            try expect("all", flag.all(axis: 1), flag.all(axes: both, keepDims: true), flag.all())
            try expect("any", flag.any(axis: 1), flag.any(axes: both, keepDims: true), flag.any())
        }
    }

    @Test func positionsOfExtremes() throws {
        try withGolden { golden in
            let x = try golden["x"]
            try golden.expect("argmax.axis", argMax(x, axis: -1, keepDims: true))
            try golden.expect("argmax.all", x.argMax())
            try golden.expect("argmin.axis", x.argMin(axis: -1, keepDims: true))
            try golden.expect("argmin.all", argMin(x))
        }
    }

    @Test func runningOps() throws {
        try withGolden { golden in
            let x = try golden["x"]
            try golden.expect("cumsum.axis", cumsum(x, axis: 1, reverse: true))
            try golden.expect("cumsum.flat", x.cumsum(inclusive: false))
            try golden.expect("cumprod.axis", x.cumprod(axis: 1, reverse: true))
            try golden.expect("cumprod.flat", cumprod(x))
            try golden.expect("cummax.axis", cummax(x, axis: 1, reverse: true))
            try golden.expect("cummax.flat", x.cummax())
            try golden.expect("cummin.axis", x.cummin(axis: 1, reverse: true))
            try golden.expect("cummin.flat", cummin(x))
        }
    }
}
