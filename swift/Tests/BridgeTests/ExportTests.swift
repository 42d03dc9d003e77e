/// The C functions from end to end on a counting model. Serialized: a process has one engine.

import CABI
import Testing

@testable import Bridge

@Suite(.serialized) struct ExportTests {
    @Test func theVersionIsTheHeaders() {
        #expect(rmx_abi_version() == RMX_ABI_MAJOR.rawValue << 16 | RMX_ABI_MINOR.rawValue)
    }

    @Test func theManifestNamesEveryStructWithItsSize() throws {
        let text = try json { rmx_abi_manifest($0, $1, $2, $3) }
        #expect(text.contains(#""rmx_event":{"fields":{"bytes_len":20,"bytes_offset":16,"flags":6,"kind":4,"#))
        #expect(text.contains(#""abi":[1,1]"#))
        #expect(!text.contains("-1"))
    }

    @Test func theDeviceHasMemoryAndThreads() throws {
        let text = try json { rmx_device_info($0, $1, $2, $3) }
        #expect(text.contains(#""device":"cpu""#) || text.contains(#""device":"gpu""#))
        #expect(!text.contains(#""threads":0"#) && !text.contains(#""memory_bytes":0"#))
    }

    @Test func aRequestGivesItsTokensInOrderThenOneFinishWithItsCost() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        var params = greedy(tag: 7, maxTokens: 3)
        params.seed = 1 << 62
        try core.submit(params)
        let events = try core.events(of: 7).map(\.record)
        let tokens = events.filter { $0.kind == UInt16(RMX_EVENT_TOKEN.rawValue) }
        #expect(tokens.map(\.token) == [3, 4, 5] && tokens.map(\.value) == [0, 1, 2])
        #expect(events.last?.status == Int32(RMX_FINISH_LENGTH.rawValue) && events.last?.bytes_len == 64)
        #expect(events.filter { $0.kind == UInt16(RMX_EVENT_FINISH.rawValue) }.count == 1)
    }

    @Test func theUsageOfAFinishIsLaidOutAsTheHeaderSays() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        var params = greedy(tag: 7, maxTokens: 9)
        params.seed = 0x1234_5678_9ABC_DEF0
        try core.submit(params, tokens: [9, 9], ends: [4])
        let finish = try #require(try core.events(of: 7).last)
        #expect(finish.record.status == Int32(RMX_FINISH_STOP.rawValue))
        let usage = finish.bytes.withUnsafeBytes { $0.loadUnaligned(as: rmx_usage.self) }
        #expect(usage.prompt_tokens == 2 && usage.completion_tokens == 3 && usage.seed == 0x1234_5678_9ABC_DEF0)
    }

    @Test func alternativesTravelInTheBytesOfTheirToken() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        var params = greedy(maxTokens: 2)
        params.flags = RMX_REQUEST_LOGPROBS.rawValue
        params.logprobs_top = 3
        try core.submit(params)
        let tokens = try core.events(of: 1).filter { $0.record.kind == UInt16(RMX_EVENT_TOKEN.rawValue) }
        let top = tokens.map { token in
            token.bytes.withUnsafeBytes { bytes in
                (0..<bytes.count / 8).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: rmx_alternative.self) }
            }
        }
        #expect(top.map { $0.map(\.token) } == [[3, 4, 5], [4, 5, 6]])
        #expect(top[0].map(\.logprob) == [0, -1, -2] && tokens[0].record.logprob == -0.25)
    }

    @Test func aRequestThatFailsFinishesWithItsErrorAndSentence() throws {
        let core = try OpenCore(modelConfig: #"{"context_tokens":80}"#)
        defer { try? core.close() }
        try core.submit(greedy(maxTokens: 10), tokens: [Int32](repeating: 1, count: 65))
        let finish = try #require(try core.events(of: 1).last)
        #expect(finish.record.status == RMX_ERR_INTERNAL.rawValue)
        #expect(String(decoding: finish.bytes.dropFirst(64), as: UTF8.self) == "The counter stops at 66: \u{1F6D1}")
    }

    @Test func anUnknownCheckpointIsAFailedEventWithASentence() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        let model = try core.load("nothing")
        var events: [ReadEvent] = []
        while events.isEmpty {
            events = try core.wait().filter { $0.record.kind == UInt16(RMX_EVENT_MODEL_FAILED.rawValue) }
        }
        #expect(events[0].record.tag == model && events[0].record.status == RMX_ERR_IO.rawValue)
        #expect(String(decoding: events[0].bytes, as: UTF8.self) == "There is no checkpoint nothing")
    }

    @Test func statsAndModelFactsAreJSON() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        let stats = try json { rmx_engine_stats(core.engine, $0, $1, $2, $3) }
        #expect(stats.contains(#""open_handles":1"#) && stats.contains(#""models":1"#))
        let info = try json { rmx_model_info(core.engine, core.model, $0, $1, $2, $3) }
        #expect(info.contains(#""model_type":"counting""#) && info.contains(#""vocabulary_size":100"#))
    }

    @Test func anEstimateGivesBothNumbers() throws {
        Engines.shared.useLoaders { CountingLoader() }
        var (weights, kv): (UInt64, UInt64) = (0, 0)
        let path = Array("counting".utf8)
        try call { rmx_model_estimate(path, UInt32(path.count), nil, 0, &weights, &kv, $0) }
        #expect(weights == 1000 && kv == 2)
    }

    @Test func aWaitWithTooFewBytesKeepsTheEventAndSaysHowManyItNeeds() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        try core.submit(greedy(maxTokens: 1))
        var seen: [ReadEvent] = []
        let failed = failure { while true { seen += try core.wait(bytesCap: 8) } }
        #expect(failed?.code == RMX_ERR_SPACE.rawValue && failed?.message.contains("64") == true)
        #expect(seen.contains { $0.record.kind == UInt16(RMX_EVENT_TOKEN.rawValue) })
        #expect(try core.events(of: 1).last?.bytes.count == 64)
    }

    @Test func aSecondEngineAndASelfTestAreRefusedWhileOneIsOpen() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        #expect(failure { _ = try OpenCore() }?.code == RMX_ERR_BUSY.rawValue)
        var length: UInt32 = 0
        var error = rmx_error()
        #expect(rmx_selftest(nil, 0, nil, 0, &length, &error) == RMX_ERR_BUSY.rawValue)
    }

    @Test func aClosedEnginesHandleIsStaleForEveryFunction() throws {
        let core = try OpenCore()
        try core.close()
        let (engine, model) = (core.engine, core.model)
        var error = rmx_error()
        var (length, handle): (UInt32, UInt32) = (0, 0)
        var (event, batch, params) = (rmx_event(), rmx_batch(), greedy())
        let path: [UInt8] = [97]
        let statuses = [
            rmx_engine_wait(engine, &event, 1, nil, 0, 0, &batch, &error), rmx_engine_wake(engine, &error),
            rmx_engine_stats(engine, nil, 0, &length, &error), rmx_engine_close(engine, &error),
            rmx_model_load(engine, path, 1, nil, 0, &handle, &error), rmx_model_unload(engine, model, &error),
            rmx_model_info(engine, model, nil, 0, &length, &error), rmx_request_cancel(engine, 1, &error),
            rmx_request_submit(engine, model, &params, [1], 1, nil, 0, nil, 0, &error),
        ]
        #expect(statuses == Array(repeating: RMX_ERR_HANDLE.rawValue, count: 9))
        #expect(rmx_engine_close(engine, nil) == RMX_ERR_HANDLE.rawValue, "a null err is allowed")
    }
}
