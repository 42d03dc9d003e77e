// Reading an array's elements: as a Swift array, as Data, with or without a copy.
import CMLX
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension MLXArray {
    /// The elements in row-major order, converted to `type`; computes the array.
    public func asArray<T: HasDType>(_ type: T.Type) -> [T] {
        if type.dtype != dtype {
            return asType(type).asArray(type)
        }
        return [T](unsafeUninitializedCapacity: size) { destination, initializedCount in
            initializedCount = read(into: UnsafeMutableRawBufferPointer(destination)) ? size : 0
        }
    }

    /// How `asData` gets at the bytes.
    public enum AccessMethod {
        /// A copy, row-major.
        case copy
        /// The array's own memory where it is row-major, else a copy. Valid while the array lives.
        case noCopyIfContiguous
        /// The array's own memory, with its strides. Valid while the array lives.
        case noCopy
    }

    /// An array's bytes and what they mean.
    public struct MLXArrayData {
        /// The bytes.
        public let data: Data
        /// The length of each axis.
        public let shape: [Int]
        /// The stride of each axis, in elements.
        public let strides: [Int]
        /// The element type.
        public let dType: DType
    }

    /// The bytes of the elements; computes the array.
    public func asData(access: AccessMethod = .copy) -> MLXArrayData {
        var rowMajor = false
        let memory = evalLock.withLock { cmlx_array_data(handle, &rowMajor) }
        guard let memory else {
            check(false)
            return described(Data())
        }
        if access == .copy || (access == .noCopyIfContiguous && !rowMajor) {
            var data = Data(count: nbytes)
            _ = data.withUnsafeMutableBytes { read(into: $0) }
            return described(data)
        }
        let bytes = UnsafeMutableRawPointer(mutating: memory)
        let data = Data(bytesNoCopy: bytes, count: nbytes, deallocator: .none)
        return described(data, strides: access == .noCopy ? internalStrides : nil)
    }

    private func described(_ data: Data, strides: [Int]? = nil) -> MLXArrayData {
        MLXArrayData(data: data, shape: shape, strides: strides ?? contiguousStrides(shape: shape), dType: dtype)
    }

    /// Copies all elements, row-major, into a buffer of `nbytes` bytes.
    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard buffer.count >= nbytes else { return false }
        let succeeded = evalLock.withLock { cmlx_array_read(handle, buffer.baseAddress) }
        check(succeeded)
        return succeeded
    }
}

/// Row-major strides of a shape, in elements.
func contiguousStrides(shape: [Int]) -> [Int] {
    var strides = [Int](repeating: 1, count: shape.count)
    for axis in shape.indices.dropLast().reversed() {
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    }
    return strides
}
