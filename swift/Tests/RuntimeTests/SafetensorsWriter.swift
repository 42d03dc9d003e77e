/// Writes safetensors files, sound ones and, on demand, broken ones.

import Foundation

/// Tensors to be written.
struct SafetensorsWriter {
    /// One tensor.
    struct Tensor {
        var type = "F32"
        var shape: [Int]
        var bytes: Data

        /// Zeros.
        init(type: String = "F32", size: Int = 4, shape: [Int]) {
            self.type = type
            self.shape = shape
            bytes = Data(count: shape.reduce(size, *))
        }
    }

    var tensors: [(name: String, tensor: Tensor)] = []

    /// The members of the header, in order of the data.
    var header: [String: Any] {
        var offset = 0
        var members: [String: Any] = ["__metadata__": ["format": "mlx"]]
        for (name, tensor) in tensors {
            let end = offset + tensor.bytes.count
            members[name] = ["dtype": tensor.type, "shape": tensor.shape, "data_offsets": [offset, end]]
            offset = end
        }
        return members
    }

    /// The file, its data at a multiple of eight bytes, as common writers place it.
    func data() throws -> Data {
        let json = try JSONSerialization.data(withJSONObject: header, options: .sortedKeys)
        let padding = Data(repeating: 0x20, count: (8 - json.count % 8) % 8)
        return SafetensorsWriter.file(header: json + padding, data: tensors.reduce(into: Data()) { $0 += $1.tensor.bytes })
    }

    /// A file with any header.
    /// - Parameter length: What the first eight bytes say; nil: the truth.
    static func file(header: Data, data: Data, length: UInt64? = nil) -> Data {
        let stated = (length ?? UInt64(header.count)).littleEndian
        return withUnsafeBytes(of: stated) { Data($0) } + header + data
    }
}
