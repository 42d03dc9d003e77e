/// Exports of the header's section "Engine".

import CABI
import CoreCommands
import Engine

/// `rmx_engine_open`.
@_cdecl("rmx_engine_open")
public func engineOpen(
    _ configJSON: UnsafePointer<UInt8>?, _ configLength: UInt32, _ engineOut: UnsafeMutablePointer<rmx_engine>?,
    _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        let out = try require(engineOut, "engine_out")
        let json = try copy(configJSON, configLength, "config_json", most: Limits.configBytesMax)
        var config = try EngineConfig(json: json)
        config.memoryBytes = config.memoryBytes ?? DeviceDescription.current().workingSetBytes
        out.pointee = try Engines.shared.open(config)
    }
}

/// `rmx_engine_wait`.
@_cdecl("rmx_engine_wait")
public func engineWait(
    _ engine: rmx_engine, _ events: UnsafeMutablePointer<rmx_event>?, _ eventsCap: UInt32,
    _ bytes: UnsafeMutablePointer<UInt8>?, _ bytesCap: UInt32, _ timeoutMs: UInt32,
    _ batchOut: UnsafeMutablePointer<rmx_batch>?, _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        let out = try require(batchOut, "batch_out")
        let records = try require(events, "events")
        if bytesCap > 0 { _ = try require(bytes, "bytes") }
        let batch = try Engines.shared.require(engine).wait(
            maxEvents: min(Int(eventsCap), BridgeLimits.waitEventsMax), maxBytes: Int(bytesCap), timeoutMs: timeoutMs)
        let used = layOut(batch.events, events: UnsafeMutableRawPointer(records), bytes: bytes)
        out.pointee = rmx_batch(
            event_count: UInt32(clamping: batch.events.count), bytes_len: UInt32(clamping: used),
            pending: UInt32(clamping: batch.pendingCount), reserved: 0)
    }
}

/// `rmx_engine_wake`.
@_cdecl("rmx_engine_wake")
public func engineWake(_ engine: rmx_engine, _ error: UnsafeMutablePointer<rmx_error>?) -> rmx_status {
    guarded(error) { try Engines.shared.require(engine).wake() }
}

/// `rmx_engine_stats`.
@_cdecl("rmx_engine_stats")
public func engineStats(
    _ engine: rmx_engine, _ json: UnsafeMutablePointer<UInt8>?, _ cap: UInt32,
    _ lengthOut: UnsafeMutablePointer<UInt32>?, _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        try write(Engines.shared.require(engine).stats().json, to: json, cap, lengthOut)
    }
}

/// `rmx_engine_close`.
@_cdecl("rmx_engine_close")
public func engineClose(_ engine: rmx_engine, _ error: UnsafeMutablePointer<rmx_error>?) -> rmx_status {
    guarded(error) { try Engines.shared.close(engine) }
}
