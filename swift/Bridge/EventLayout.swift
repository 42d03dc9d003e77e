/// Engine events as rmx_event records and payload bytes. The queue has counted the bytes (`EngineEvent.payloadBytes`),
/// so what it handed out fits; the stores below go unaligned because the buffers are the caller's.

import CABI
import Engine

/// Lays out a batch.
/// - Parameters:
///   - events: Room for `batch.events.count` records.
///   - bytes: Room for their payloads, each padded to 8.
/// - Returns: Payload bytes used.
func layOut(_ batch: [EngineEvent], events: UnsafeMutableRawPointer, bytes: UnsafeMutableRawPointer?) -> Int {
    var used = 0
    for (i, event) in batch.enumerated() {
        var record = record(of: event)
        let payload = payload(of: event)
        if let bytes, !payload.isEmpty {
            record.bytes_offset = UInt32(clamping: used)
            record.bytes_len = UInt32(clamping: payload.count)
            (bytes + used).copyMemory(from: payload, byteCount: payload.count)
        }
        used += event.payloadBytes
        events.storeBytes(of: record, toByteOffset: i * MemoryLayout<rmx_event>.stride, as: rmx_event.self)
    }
    return used
}

private func record(of event: EngineEvent) -> rmx_event {
    var record = rmx_event()
    record.token = -1
    switch event {
    case .modelProgress(let model, let perMille):
        record.set(RMX_EVENT_MODEL_PROGRESS, tag: model)
        record.value = UInt32(clamping: perMille)
    case .modelReady(let model):
        record.set(RMX_EVENT_MODEL_READY, tag: model)
    case .modelFailed(let model, let error):
        record.set(RMX_EVENT_MODEL_FAILED, tag: model)
        record.status = error.code.rawValue
    case .modelUnloaded(let model):
        record.set(RMX_EVENT_MODEL_UNLOADED, tag: model)
    case .prefill(let tag, let doneTokens):
        record.set(RMX_EVENT_PREFILL, tag: tag)
        record.value = UInt32(clamping: doneTokens)
    case .token(let tag, let index, let token):
        record.set(RMX_EVENT_TOKEN, tag: tag)
        record.value = UInt32(clamping: index)
        record.token = token.token
        record.logprob = token.logprob
    case .finish(let tag, let result, _):
        record.set(RMX_EVENT_FINISH, tag: tag)
        record.status = status(of: result)
    case .log(let level, _):
        record.set(RMX_EVENT_LOG, tag: 0)
        record.status = level.rawValue
    }
    return record
}

extension rmx_event {
    fileprivate mutating func set(_ kind: rmx_event_kind, tag: UInt32) {
        self.kind = UInt16(kind.rawValue)
        self.tag = tag
    }
}

private func status(of result: FinishResult) -> Int32 {
    switch result {
    case .stop: Int32(RMX_FINISH_STOP.rawValue)
    case .length: Int32(RMX_FINISH_LENGTH.rawValue)
    case .cancelled: Int32(RMX_FINISH_CANCELLED.rawValue)
    case .failed(let error): error.code.rawValue
    }
}

private func payload(of event: EngineEvent) -> [UInt8] {
    switch event {
    case .modelProgress, .modelReady, .modelUnloaded, .prefill: []
    case .modelFailed(_, let error): Array(error.message.utf8)
    case .log(_, let line): Array(line.utf8)
    case .token(_, _, let token):
        bytes(of: token.top.map { rmx_alternative(token: $0.token, logprob: $0.logprob) })
    case .finish(_, .cancelled(let message), let usage): bytes(of: [record(of: usage)]) + Array(message.utf8)
    case .finish(_, .failed(let error), let usage): bytes(of: [record(of: usage)]) + Array(error.message.utf8)
    case .finish(_, _, let usage): bytes(of: [record(of: usage)])
    }
}

private func record(of usage: RequestUsage) -> rmx_usage {
    var record = rmx_usage()
    record.prompt_tokens = UInt32(clamping: usage.promptTokens)
    record.cached_tokens = UInt32(clamping: usage.cachedTokens)
    record.completion_tokens = UInt32(clamping: usage.completionTokens)
    record.drafted_tokens = UInt32(clamping: usage.draftedTokens)
    record.accepted_tokens = UInt32(clamping: usage.acceptedTokens)
    record.seed = usage.seed
    record.queue_us = usage.queueUs
    record.prefill_us = usage.prefillUs
    record.decode_us = usage.decodeUs
    return record
}

private func bytes<Record: BitwiseCopyable>(of records: [Record]) -> [UInt8] {
    records.withUnsafeBytes { Array($0) }
}
