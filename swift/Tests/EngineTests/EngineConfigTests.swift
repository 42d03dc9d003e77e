/// The configs that arrive as JSON.

import Testing

@testable import Engine

@Suite("Configs")
struct EngineConfigTests {
    private func message(_ json: String) -> String {
        do {
            _ = try EngineConfig(json: Array(json.utf8))
            return "accepted"
        } catch {
            #expect(error.code == .argument)
            return error.message
        }
    }

    @Test("Nothing given means the defaults")
    func defaults() throws {
        #expect(try EngineConfig(json: []) == EngineConfig())
        #expect(try EngineConfig(json: Array("{}".utf8)) == EngineConfig())
        try EngineConfig().check()
    }

    @Test("Every key is read")
    func everyKey() throws {
        let json = """
            {"max_requests":3,"max_queue":4,"max_step_tokens":500,"prefill_chunk_tokens":6,"memory_bytes":7,
             "threads":8,"cpu_arithmetic":"fast"}
            """
        let config = try EngineConfig(json: Array(json.utf8))
        #expect(config.maxRequests == 3 && config.maxQueue == 4 && config.maxStepTokens == 500)
        #expect(config.prefillChunkTokens == 6 && config.memoryBytes == 7 && config.threads == 8)
        #expect(config.cpuArithmetic == .fast)
        #expect(EngineConfig().cpuArithmetic == nil, "the runtime knows what the machine can do")
    }

    @Test("The rows of a step follow the other limits unless they are given")
    func derivedRows() throws {
        let config = try EngineConfig(json: Array(#"{"max_requests":1000}"#.utf8))
        #expect(config.maxStepTokens == 1000 + 2 * 256)
    }

    @Test("Unknown keys, wrong types and numbers out of range are refused by name")
    func refusals() {
        #expect(message(#"{"max_request":3}"#).contains(#""max_request""#))
        #expect(message(#"{"max_request":3}"#).contains("max_requests"))
        #expect(message(#"{"max_requests":0}"#) == "max_requests in the engine config is 0; wanted is 1 to 1024")
        for value in ["1.5", "\"3\"", "true", "null", "[]", "1e30"] {
            #expect(message(#"{"max_requests":\#(value)}"#).contains("max_requests"), "\(value)")
        }
        #expect(message(#"{"cpu_arithmetic":"sloppy"}"#).contains("exact or fast"))
        #expect(message(#"{"cpu_arithmetic":1}"#).contains("exact or fast"))
        #expect(message(#"{"memory_bytes":-1}"#).contains("memory_bytes"))
        for text in ["[]", "3", "{", "\u{0}", "{\"a\""] { #expect(message(text).contains("no JSON object"), "\(text)") }
        #expect(message(String(repeating: " ", count: Limits.configBytesMax + 1)).contains("bytes"))
    }

    @Test("A step that can't hold a row for each request and a chunk is refused with the sum's parts")
    func rowsTooFew() {
        let text = message(#"{"max_requests":8,"prefill_chunk_tokens":64,"max_step_tokens":71}"#)
        #expect(text.contains("71") && text.contains("8") && text.contains("64"))
        #expect(message(#"{"max_requests":8,"prefill_chunk_tokens":64,"max_step_tokens":72}"#) == "accepted")
    }

    @Test("Model options")
    func modelOptions() throws {
        let plain = try ModelOptions(json: [])
        #expect(plain.contextTokens == nil && !plain.float32)
        let both = try ModelOptions(json: Array(#"{"context_tokens":512,"dtype":"float32"}"#.utf8))
        #expect(both.contextTokens == 512 && both.float32)
        #expect(try !ModelOptions(json: Array(#"{"dtype":"checkpoint"}"#.utf8)).float32)
        for json in [#"{"context_tokens":1}"#, #"{"dtype":"float16"}"#, #"{"dtypes":"float32"}"#] {
            #expect(throws: EngineError.self) { try ModelOptions(json: Array(json.utf8)) }
        }
    }
}
