// Errors of MLX become Swift errors, whether they arise when the graph is built or when it runs.
import Foundation
import MLX
import Testing

@Suite struct ErrorTests {
    @Test func anErrorInBuildingTheGraphIsThrown() throws {
        let message = message { MLXArray([1, 2, 3]) + MLXArray([1, 2]) }
        #expect(message.contains("broadcast"))
    }

    @Test func theFirstErrorWinsAndTheEmptyArrayIsNoOperand() throws {
        let message = message {
            let bad = matmul(MLXArray.zeros([2, 3]), MLXArray.zeros([2, 3]))
            eval(softmax(bad + 1))
            return bad.item(Float.self)
        }
        #expect(message.contains("matmul"))
    }

    @Test func handlersNest() throws {
        try withError {
            #expect(throws: MLXError.self) { try withError { MLXArray([1, 2]).reshaped(3) } }
            #expect((MLXArray(1) + 1).item(Int.self) == 2)
        }
    }

    @Test func anErrorInAnAsyncBodyIsThrown() async throws {
        await #expect(throws: MLXError.self) {
            try await withError {
                await Task.yield()
                _ = MLXArray([1, 2]).reshaped([3])
            }
        }
    }

    @Test func aMissingFileIsAnErrorWithItsPath() throws {
        let message = message { try loadArrays(url: URL(fileURLWithPath: "/nowhere/model.safetensors")) }
        #expect(message.contains("/nowhere/model.safetensors"))
    }

    @Test func mistakesThatUpstreamTrapsOnAreErrors() {
        #expect(throws: MLXError.self) { try withError { MLXArray([1, 2, 3], [2, 2]) } }
        #expect(throws: MLXError.self) { try withError { MLXArray(Int.max) } }
        #expect(throws: MLXError.self) { try withError { MLXArray([1, 2]).item(Int.self) } }
        #expect(throws: MLXError.self) { try withError { MLXArray([1, 2])[2] } }
        #expect(throws: MLXError.self) { try withError { MLXArray([1, 2]).dim(1) } }
        #expect(throws: MLXError.self) { try withError { _ = MLXArray([1, 2]).shape2 } }
    }
}

/// The message of the MLX error that `body` ends in; empty if there was none.
private func message(_ body: () throws -> some Any) -> String {
    do {
        _ = try withError(body)
        return ""
    } catch {
        return error.localizedDescription
    }
}
