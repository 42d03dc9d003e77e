// Files, evaluation, devices, memory, compiled functions.
import Foundation
import Testing

@testable import MLX

@Suite struct RuntimeTests {
    /// A folder of its own, which is removed afterwards.
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test func safetensorsComeBackAsTheyWere() throws {
        let arrays = ["a": MLXArray(0 ..< 6, [2, 3]), "b.c": MLXArray([1, 2] as [Float]).asType(.bfloat16)]
        func expectSame(_ read: ([String: MLXArray], [String: String])) {
            #expect(read.1["format"] == "mlx" && read.0.count == 2)
            for (name, array) in arrays {
                #expect(read.0[name]?.dtype == array.dtype)
                #expect(read.0[name]?.arrayEqual(array).item(Bool.self) == true)
            }
        }
        try withFolder { folder in
            let url = folder.appendingPathComponent("model.safetensors")
            try save(arrays: arrays, metadata: ["format": "mlx"], url: url)
            expectSame(try loadArraysAndMetadata(url: url))
            expectSame(try loadArraysAndMetadata(data: Data(contentsOf: url)))
            expectSame(try loadArraysAndMetadata(data: saveToData(arrays: arrays, metadata: ["format": "mlx"])))
        }
    }

    @Test func npyFilesComeBackAsTheyWere() throws {
        try withFolder { folder in
            let url = folder.appendingPathComponent("array.npy")
            try save(array: MLXArray([1, 2, 3]), url: url)
            #expect(try loadArray(url: url).asArray(Int.self) == [1, 2, 3])
        }
    }

    @Test func brokenFilesAreErrors() throws {
        try withFolder { folder in
            let url = folder.appendingPathComponent("model.safetensors")
            let whole = try saveToData(arrays: ["a": MLXArray(0 ..< 100)])
            for size in [0, 4, 12, whole.count - 1] {
                try whole.prefix(size).write(to: url)
                #expect(throws: (any Error).self) {
                    try withError { eval(Array(try loadArrays(url: url).values)) }
                }
                #expect(throws: (any Error).self) {
                    try withError { eval(Array(try loadArrays(data: whole.prefix(size)).values)) }
                }
            }
            #expect(throws: LoadSaveError.self) { try loadArrays(url: folder.appendingPathComponent("model.gguf")) }
        }
    }

    @Test func evalFindsArraysInValues() throws {
        try withError {
            let a = MLXArray(1) + 1
            eval(a)
            eval([a], ("name", a, 3), ["key": a], Int?.none as Any)
            asyncEval(a + 1)
            asyncEval([a + 2])
        }
        try checkedEval(MLXArray(1), [MLXArray(2)])
        #expect(throws: MLXError.self) { try checkedEval(URL(fileURLWithPath: "/")) }
    }

    @Test func devicesAndStreams() throws {
        try withError {
            #expect(Device.defaultDevice() == .cpu || Device.defaultDevice() == .gpu)
            let stream = Stream(.cpu)
            #expect(stream != Stream.cpu)
            #expect(StreamOrDevice.stream(stream).stream == stream)
            #expect(add(MLXArray(1), MLXArray(2), stream: .stream(stream)).item(Int.self) == 3)
            #expect(Stream.withNewDefaultStream(device: .cpu) { StreamOrDevice.default.stream != .cpu })
            Device.withDefaultDevice(.cpu) {
                #expect(StreamOrDevice.default.stream == .cpu)
                #expect((MLXArray(1) + 1).item(Int.self) == 2)
            }
            stream.synchronize()
        }
    }

    @Test(.disabled(if: Device.defaultDevice() == .gpu, "this libmlx has a GPU"))
    func aMissingGPUIsAnErrorOfTheOp() {
        #expect(throws: MLXError.self) { try withError { exp(MLXArray(1.0), stream: .gpu) } }
    }

    @Test func memoryIsCountedAndLimited() throws {
        try withError {
            let limit = Memory.cacheLimit
            Memory.cacheLimit = 1 << 20
            #expect(Memory.cacheLimit == 1 << 20)
            Memory.cacheLimit = limit
            let memoryLimit = Memory.memoryLimit
            Memory.memoryLimit = 1 << 40
            #expect(Memory.memoryLimit == 1 << 40)
            Memory.memoryLimit = memoryLimit
            let before = Memory.snapshot()
            let block = MLXArray.zeros([1 << 22]) + 1
            eval(block)
            #expect(Memory.peakMemory >= 1 << 24)
            #expect(Memory.snapshot().delta(before).peakMemory <= 0)
            Memory.clearCache()
            #expect(block.size == 1 << 22)
        }
    }

    @Test func memoryThatIsLentToAnArrayCountsAsLongAsTheArrayLives() throws {
        try withError {
            let count = 1 << 24
            let before = Memory.snapshot()
            var lent: MLXArray? = MLXArray(
                rawPointer: UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64), [count], dtype: .uint8,
                finalizer: {})
            #expect(Memory.snapshot().activeMemory - before.activeMemory >= count)
            #expect(Memory.peakMemory >= before.activeMemory + count)
            lent = nil
            #expect(lent == nil && Memory.activeMemory - before.activeMemory < count)
            #expect(Memory.peakMemory >= before.activeMemory + count)
        }
    }

    @Test(arguments: [false, true])
    func compiledFunctionsGiveWhatTheFunctionGives(fused: Bool) throws {
        try withError {
            let function: ([MLXArray]) -> [MLXArray] = { [matmul($0[0], $0[1]).T, $0[0].sum()] }
            let compiled = CompiledFunction(inputs: [], outputs: [], shapeless: false, fused: fused, function)
            for length in [2, 3, 2] {
                let a = MLXArray(0 ..< 2 * length, [2, length]).asType(.float32)
                let results = compiled.call([a, a.T])
                for (result, wanted) in zip(results, function([a, a.T])) {
                    #expect(result.arrayEqual(wanted).item(Bool.self))
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func compiledFunctionsMayChangeState(fused: Bool) throws {
        try withError {
            let state = MLXArray([1, 2] as [Float])
            let compiled = CompiledFunction(inputs: [[state]], outputs: [[state]], shapeless: false, fused: fused) {
                state[0] = $0[0]
                return [state.sum()]
            }
            #expect(compiled.callOne([MLXArray(5.0)]).item(Float.self) == 7)
            #expect(compiled.callOne([MLXArray(6.0)]).item(Float.self) == 8)
            #expect(state.asArray(Float.self) == [6, 2])
        }
    }

    @Test func publicCompileFormsCallTheFunction() throws {
        try withError {
            let two = MLXArray(2.0)
            #expect(compile { $0 + 1 }(two).item(Float.self) == 3)
            #expect(compile(shapeless: true) { $0 + $1 }(two, two).item(Float.self) == 4)
            #expect(compile { $0 + $1 * $2 }(two, two, two).item(Float.self) == 6)
            #expect(compile { [$0[0] - 1] }([two])[0].item(Float.self) == 1)
        }
    }
}
