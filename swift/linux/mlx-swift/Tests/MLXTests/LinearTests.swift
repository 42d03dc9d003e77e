// Products against Python's MLX. Quantized ones may run on our own primitives, so their values may
// differ a little: the sums are in another order.
import MLX
import Testing

@Suite struct LinearTests {
    @Test func matrices() throws {
        try withGolden { golden in
            let (a, b, row) = (try golden["a"], try golden["b"], try golden["row"])
            try golden.expect("matmul", matmul(a, b), within: 1e-6)
            try golden.expect("matmul", a.matmul(b), within: 1e-6)
            try golden.expect("addmm", addMM(golden["c"], a, b, alpha: 0.5, beta: 2), within: 1e-6)
            try golden.expect("inner", inner(row, golden["x"]), within: 1e-6)
            try golden.expect("outer", outer(row, golden["few"]))
            try golden.expect("tensordot", tensordot(a, golden["square"], axes: 1), within: 1e-6)
            try golden.expect("einsum", einsum("bij,bjk->bik", a, b), within: 1e-6)
            let experts = try golden["experts"].swappedAxes(1, 2)
            let tokens = try golden["tokens"].expandedDimensions(axis: 1)
            let expertOf = try golden["expertOf"][0..., 0]
            try golden.expect("gather_mm", gatherMM(tokens, experts, rhsIndices: expertOf), within: 1e-6)
            try golden.expect("hadamard_transform", hadamardTransform(golden["tokens"]))
        }
    }

    @Test func convolutions() throws {
        try withGolden { golden in
            try golden.expect("conv1d", conv1d(golden["signal"], golden["taps"], padding: 3, groups: 6), within: 1e-6)
            let image = conv2d(try golden["image"], try golden["filters"], stride: [2, 1], padding: 1)
            try golden.expect("conv2d", image, within: 1e-6)
            let volume = conv3d(try golden["volume"], try golden["filters3"], stride: [2, 1, 1])
            try golden.expect("conv3d", volume, within: 1e-6)
        }
    }

    @Test(arguments: [
        (QuantizationMode.affine, 64, 4), (.affine, 32, 8), (.mxfp4, 32, 4), (.mxfp8, 32, 8), (.nvfp4, 16, 4),
    ])
    func quantizedWeights(mode: QuantizationMode, group: Int, bits: Int) throws {
        try withGolden { golden in
            let name = "\(mode).\(bits)"
            let (wq, scales, biases) = quantized(try golden["w"], groupSize: group, bits: bits, mode: mode)
            try golden.expect("quantize.\(name).wq", wq)
            try golden.expect("quantize.\(name).scales", scales)
            #expect((biases != nil) == (mode == .affine))
            if let biases { try golden.expect("quantize.\(name).biases", biases) }
            let plain = dequantized(wq, scales: scales, biases: biases, groupSize: group, bits: bits, mode: mode)
            try golden.expect("dequantize.\(name)", plain)
            let tokens = try golden["tokens"]
            let product = quantizedMM(
                tokens, wq, scales: scales, biases: biases, groupSize: group, bits: bits, mode: mode)
            try golden.expect("quantized_matmul.\(name)", product, within: 1e-5)
            let many = quantized(try golden["experts"], groupSize: group, bits: bits, mode: mode)
            let gathered = gatherQuantizedMM(
                tokens[0..., .newAxis, .newAxis], many.wq, scales: many.scales, biases: many.biases,
                rhsIndices: try golden["expertOf"], groupSize: group, bits: bits, mode: mode)
            try golden.expect("gather_qmm.\(name)", gathered, within: 1e-5)
        }
    }

    @Test func quantizedWeightsInOtherTypesAndOrders() throws {
        try withGolden { golden in
            let w = try golden["w"]
            let half = quantized(w.asType(.bfloat16), groupSize: 64, bits: 4)
            let product = quantizedMM(
                try golden["tokensHalf"], half.wq, scales: half.scales, biases: half.biases, groupSize: 64, bits: 4)
            try golden.expect("quantized_matmul.half", product, within: 2e-2)
            let full = quantized(w)
            let plain = quantizedMM(
                try golden["tall"], full.wq, scales: full.scales, biases: full.biases, transpose: false)
            try golden.expect("quantized_matmul.plain", plain, within: 1e-5)
            let back = dequantized(full.wq, scales: full.scales, biases: full.biases, dtype: .float16)
            #expect(back.dtype == .float16)
        }
    }
}
