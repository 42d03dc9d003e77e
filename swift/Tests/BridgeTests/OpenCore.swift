/// A caller of the C functions, as plain as the one in src/ffi: buffers, statuses, events.

import CABI
import Engine
import Testing

@testable import Bridge

/// What a failed call left.
struct CallFailure: Error, Equatable {
    var code: Int32
    var message: String
}

/// Runs a call and throws what it reports.
func call(_ body: (UnsafeMutablePointer<rmx_error>) -> rmx_status) throws {
    var error = rmx_error()
    let status = body(&error)
    guard status != 0 else { return }
    let length = Int(error.message_len)
    let message = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix(length), as: UTF8.self) }
    #expect(error.code == status)
    throw CallFailure(code: status, message: message)
}

/// What a call that must fail reports; nil if it does not fail.
func failure(of body: () throws -> Void) -> CallFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? CallFailure
    }
}

/// Calls a JSON function twice: for the length, then for the text.
func json(
    _ body: (UnsafeMutablePointer<UInt8>?, UInt32, UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<rmx_error>)
        -> rmx_status
) throws -> String {
    var length: UInt32 = 0
    var error = rmx_error()
    #expect(body(nil, 0, &length, &error) == RMX_ERR_SPACE.rawValue)
    var bytes = [UInt8](repeating: 0, count: Int(length))
    try call { body(&bytes, length, &length, $0) }
    return String(decoding: bytes, as: UTF8.self)
}

/// An event with its payload.
struct ReadEvent {
    var record: rmx_event
    var bytes: [UInt8]
}

/// An engine on a counting model, closed by `close`.
struct OpenCore {
    let engine: rmx_engine
    var model: rmx_model = 0

    /// Opens it and loads `counting`.
    init(config: String = "{}", modelConfig: String = "{}") throws {
        Engines.shared.useLoaders { CountingLoader() }
        var engine: rmx_engine = 0
        let bytes = Array(config.utf8)
        try call { rmx_engine_open(bytes, UInt32(bytes.count), &engine, $0) }
        self.engine = engine
        model = try load("counting", modelConfig)
        var ready = false
        while !ready {
            ready = try wait().contains { $0.record.kind == UInt16(RMX_EVENT_MODEL_READY.rawValue) }
        }
    }

    func load(_ path: String, _ config: String = "{}") throws -> rmx_model {
        var model: rmx_model = 0
        let (path, config) = (Array(path.utf8), Array(config.utf8))
        try call { rmx_model_load(engine, path, UInt32(path.count), config, UInt32(config.count), &model, $0) }
        return model
    }

    func wait(eventsCap: UInt32 = 64, bytesCap: UInt32 = 8192, timeoutMs: UInt32 = 10_000) throws -> [ReadEvent] {
        var records = [rmx_event](repeating: rmx_event(), count: Int(eventsCap))
        var bytes = [UInt8](repeating: 0xEE, count: Int(bytesCap))
        var batch = rmx_batch()
        try call { rmx_engine_wait(engine, &records, eventsCap, &bytes, bytesCap, timeoutMs, &batch, $0) }
        #expect(batch.bytes_len <= bytesCap)
        return records.prefix(Int(batch.event_count)).map { record in
            #expect(record.bytes_offset % 8 == 0)
            let start = Int(record.bytes_offset)
            return ReadEvent(record: record, bytes: Array(bytes[start..<start + Int(record.bytes_len)]))
        }
    }

    /// All events of a tag up to its FINISH.
    func events(of tag: UInt32) throws -> [ReadEvent] {
        var events: [ReadEvent] = []
        while events.last?.record.kind != UInt16(RMX_EVENT_FINISH.rawValue) {
            events += try wait().filter { $0.record.tag == tag }
        }
        return events
    }

    func submit(
        _ params: rmx_params, tokens: [Int32] = [1, 2, 3], ends: [Int32] = [], bias: [rmx_alternative] = []
    ) throws {
        var params = params
        try call {
            rmx_request_submit(
                engine, model, &params, tokens, UInt32(tokens.count), ends, UInt32(ends.count), bias,
                UInt32(bias.count), $0)
        }
    }

    func close() throws { try call { rmx_engine_close(engine, $0) } }
}

/// Greedy, everything off.
func greedy(tag: UInt32 = 1, maxTokens: UInt32 = 4) -> rmx_params {
    var params = rmx_params()
    params.size = UInt32(MemoryLayout<rmx_params>.size)
    params.tag = tag
    params.max_tokens = maxTokens
    params.top_p = 1
    params.repetition_penalty = 1
    return params
}
