/// The token table against its reference, on the user's machine.

import MLX

extension TokenTable {
    /// Table of synthetic weights.
    static func synthetic(count: Int, width: Int, bits: Int) throws -> TokenTable {
        var make = SyntheticWeights(seed: 5)
        return try TokenTable(make.matrix(count, width, bits: bits))
    }

    static let check = KernelCheck(
        "TokenTable",
        [8, 4, 0].flatMap { bits in
            let storage = bits == 0 ? "dense" : "\(bits)-bit g32"
            return [
                KernelCase("\(storage), 3 of 1000 rows of width 192") {
                    try withError {
                        let table = try TokenTable.synthetic(count: 1000, width: 192, bits: bits)
                        let indices = MLXArray([999, 0, 7] as [Int32])
                        let difference = table.rows(indices) - table.referenceRows(indices).asType(.float32)
                        // The reference rounds to float16.
                        return KernelDifference(error: abs(difference).max().item(Float.self), allowed: 1e-3)
                    }
                },
                KernelCase("\(storage), the best of 1000 for 5 rows of width 192") {
                    try withError {
                        let table = try TokenTable.synthetic(count: 1000, width: 192, bits: bits)
                        var make = SyntheticWeights(seed: 6)
                        let x = make.values([5, 192])
                        let equal = arrayEqual(table.best(x), table.referenceBest(x)).item(Bool.self)
                        return KernelDifference(error: equal ? 0 : 1, allowed: 0)
                    }
                },
            ]
        })
}
