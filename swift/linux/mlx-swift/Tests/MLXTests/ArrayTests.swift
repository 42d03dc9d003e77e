// Arrays: from numbers and memory, and back.
import Foundation
import MLX
import Testing

@Suite struct ArrayTests {
    @Test func scalarsHaveUpstreamsTypes() throws {
        try withError {
            #expect(MLXArray(3).dtype == .int32)
            #expect(MLXArray(int64: 3).dtype == .int64)
            #expect(MLXArray(1.5).dtype == .float32)
            #expect(MLXArray(float64: 1.5).dtype == .float64)
            #expect(MLXArray(true).dtype == .bool)
            #expect(MLXArray(UInt8(3)).dtype == .uint8)
            #expect(MLXArray(bfloat16: 1.5).item(Float.self) == 1.5)
            #expect(MLXArray([1, 2]).dtype == .int32)
            #expect(MLXArray(converting: [1.0, 2.0]).dtype == .float32)
            #expect(MLXArray(0 ..< 3).asArray(Int.self) == [0, 1, 2])
            let literal: MLXArray = [1, 2, 3]
            #expect(literal.dtype == .int32)
        }
    }

    private static let realTypes = DType.allCases.filter { !$0.isComplex }

    @Test(arguments: realTypes)
    func aScalarBecomesAnyType(dtype: DType) throws {
        try withError {
            let array = MLXArray(1, dtype: dtype)
            #expect(array.dtype == dtype)
            #expect(array.item(Int.self) == 1)
            #expect(array.itemSize == dtype.size)
            #expect(MLXArray(1.0, dtype: dtype).item(Float.self) == 1)
            #expect(array.shape == [] && array.size == 1 && array.ndim == 0)
        }
    }

    @Test func largeIntegersKeepTheirBits() throws {
        try withError {
            #expect(MLXArray(UInt64.max).item(UInt64.self) == .max)
            #expect(MLXArray(UInt64.max - 1, dtype: .uint64).item(UInt64.self) == UInt64.max - 1)
            #expect(MLXArray(int64: Int.min).item(Int.self) == .min)
            #expect(MLXArray(UInt32.max).item(Int.self) == Int(UInt32.max))
        }
        #expect(throws: MLXError.self) { try withError { MLXArray(300, dtype: .uint8) } }
        #expect(throws: MLXError.self) { try withError { MLXArray(1e30, dtype: .int32) } }
    }

    @Test func elementsComeBackInRowMajorOrder() throws {
        try withError {
            let a = MLXArray(0 ..< 6, [2, 3])
            #expect(a.T.asArray(Int32.self) == [0, 3, 1, 4, 2, 5])
            #expect(a[0..., .stride(by: -2)].asArray(Int32.self) == [2, 0, 5, 3])
            #expect(broadcast(MLXArray([7, 8]), to: [2, 2]).asArray(Int.self) == [7, 8, 7, 8])
            #expect(a.asArray(Float.self) == [0, 1, 2, 3, 4, 5])
            #expect(MLXArray.zeros([0, 3]).asArray(Float.self) == [])
            #expect(a.shape2 == (2, 3) && a.dim(-1) == 3 && a.count == 2 && a.nbytes == 24)
        }
    }

    @Test func dataKeepsShapeAndType() throws {
        try withError {
            let a = MLXArray(0 ..< 6, [2, 3]).asType(.bfloat16)
            let copy = a.T.asData()
            #expect(copy.shape == [3, 2] && copy.strides == [2, 1] && copy.dType == .bfloat16)
            #expect(MLXArray(data: copy).asType(.int32).asArray(Int32.self) == [0, 3, 1, 4, 2, 5])
            let noCopy = a.asData(access: .noCopyIfContiguous)
            #expect(MLXArray(noCopy.data, noCopy.shape, dtype: .bfloat16).arrayEqual(a).item(Bool.self))
            #expect(a.T.asData(access: .noCopy).strides == [1, 3])
            let bytes = Data([1, 0, 2, 0])
            #expect(MLXArray(bytes, dtype: .uint16).asArray(Int.self) == [1, 2])
            #expect(MLXArray(bytes, [2, 2], type: UInt8.self).shape == [2, 2])
        }
        #expect(throws: MLXError.self) { try withError { MLXArray(Data([1, 2, 3]), dtype: .uint16) } }
    }

    /// Counts how often the finalizer of wrapped memory ran.
    private final class Released {
        var count = 0
    }

    @Test func wrappedMemoryIsNotCopiedAndReleasedOnce() throws {
        let released = Released()
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
        _ = memory.initializeMemory(as: Float.self, from: (0 ..< 16).map { Float($0) }, count: 16)
        try withError {
            // Not at the start of the block: as a tensor lies in a file.
            let a = MLXArray(rawPointer: memory + 8, [2, 3], dtype: .float32) {
                released.count += 1
            }
            #expect(a.asArray(Float.self) == [2, 3, 4, 5, 6, 7])
            let address = a.asData(access: .noCopy).data.withUnsafeBytes { $0.baseAddress }
            #expect(address == UnsafeRawPointer(memory + 8))
            let b = matmul(a, a.T) + 1
            #expect(b.asArray(Float.self) == [30, 57, 57, 111])
            #expect(a[1, 1...].asArray(Float.self) == [6, 7])
            #expect(released.count == 0)
        }
        #expect(released.count == 1)
        memory.deallocate()
    }

    @Test func wrappedMemoryThatIsMisalignedOrOfNoShapeIsCopiedOrRefused() throws {
        let released = Released()
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: 16)
        try withError {
            let a = MLXArray(rawPointer: memory + 2, [3], dtype: .float32) {
                released.count += 1
            }
            #expect(released.count == 1)
            memory.initializeMemory(as: UInt8.self, repeating: 1, count: 16)
            #expect(a.asArray(Float.self) == [0, 0, 0])
        }
        #expect(throws: MLXError.self) {
            try withError {
                MLXArray(rawPointer: memory, [-1], dtype: .float32) { released.count += 1 }
            }
        }
        #expect(released.count == 2)
        memory.deallocate()
    }

    @Test func limitsOfFloatingPointTypes() {
        #expect(DType.bfloat16.finfo?.max == 3.3895313892515355e+38)
        #expect(DType.float16.finfo?.min == -65504)
        #expect(DType.float32.finfo?.eps == Double(Float.ulpOfOne))
        #expect(DType.int32.finfo == nil)
    }
}
