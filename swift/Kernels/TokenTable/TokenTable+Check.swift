/// The token table against its reference, on the user's machine.

import MLX

extension TokenTable {
    /// Table of synthetic weights.
    static func synthetic(
        count: Int, width: Int, bits: Int, mode: QuantizationMode = .affine
    ) throws -> TokenTable {
        var make = SyntheticWeights(seed: 5)
        return try TokenTable(make.matrix(count, width, bits: bits, mode: mode))
    }

    private static let storages: [(Int, QuantizationMode)] = [
        (8, .affine), (4, .affine), (4, .mxfp4), (8, .mxfp8), (0, .affine),
    ]

    static let check = KernelCheck(
        "TokenTable",
        storages.flatMap { bits, mode in
            let storage = bits == 0 ? "dense" : "\(bits)-bit g32 \(mode.rawValue)"
            return [
                KernelCase("\(storage), 3 of 1000 rows of width 192") {
                    try withError {
                        let table = try TokenTable.synthetic(count: 1000, width: 192, bits: bits, mode: mode)
                        let indices = MLXArray([999, 0, 7] as [Int32])
                        let difference = table.rows(indices) - table.referenceRows(indices).asType(.float32)
                        // The reference rounds to float16.
                        return KernelDifference(error: abs(difference).max().item(Float.self), allowed: 1e-3)
                    }
                },
                KernelCase("\(storage), the best of 1000 for 5 rows of width 192") {
                    try withError {
                        let table = try TokenTable.synthetic(count: 1000, width: 192, bits: bits, mode: mode)
                        var make = SyntheticWeights(seed: 6)
                        let x = make.values([5, 192])
                        let equal = arrayEqual(table.best(x), table.referenceBest(x)).item(Bool.self)
                        return KernelDifference(error: equal ? 0 : 1, allowed: 0)
                    }
                },
            ]
        })
}
