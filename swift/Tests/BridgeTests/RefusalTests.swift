/// What a caller may not do: every broken rule of the header is ARGUMENT with the field's name, and nothing traps.

import CABI
import Kernels
import Testing

@testable import Bridge

extension ExportTests {
    /// A parameter, its wrong value, and the name that the error must have.
    struct WrongParameter: Sendable, CustomTestStringConvertible {
        let field: String
        let set: @Sendable (inout rmx_params) -> Void
        init(_ field: String, _ set: @escaping @Sendable (inout rmx_params) -> Void) {
            self.field = field
            self.set = set
        }
        var testDescription: String { field }
    }

    static let wrongParameters = [
        WrongParameter("size") { $0.size = 79 }, WrongParameter("size") { $0.size = 0 },
        WrongParameter("size") { $0.size = 88 }, WrongParameter("tag") { $0.tag = 0 },
        WrongParameter("seed") { $0.seed = 1 << 63 }, WrongParameter("max_tokens") { $0.max_tokens = 0 },
        WrongParameter("flags") { $0.flags = 8 }, WrongParameter("temperature") { $0.temperature = .nan },
        WrongParameter("temperature") { $0.temperature = -0.1 },
        WrongParameter("temperature") { $0.temperature = .infinity }, WrongParameter("top_p") { $0.top_p = 0 },
        WrongParameter("top_p") { $0.top_p = .nan }, WrongParameter("top_p") { $0.top_p = 1.01 },
        WrongParameter("min_p") { $0.min_p = -1 }, WrongParameter("min_p") { $0.min_p = .nan },
        WrongParameter("repetition_penalty") { $0.repetition_penalty = 0 },
        WrongParameter("repetition_penalty") { $0.repetition_penalty = .nan },
        WrongParameter("presence_penalty") { $0.presence_penalty = 2.5 },
        WrongParameter("presence_penalty") { $0.presence_penalty = .nan },
        WrongParameter("frequency_penalty") { $0.frequency_penalty = -.infinity },
        WrongParameter("logprobs_top") { $0.logprobs_top = 1 },
        WrongParameter("logprobs_top") { ($0.flags, $0.logprobs_top) = (1, 21) },
        WrongParameter("reserved") { $0.reserved = 1 }, WrongParameter("reserved") { $0.reserved2 = 1 },
    ]

    @Test func aParameterOutOfRangeIsRefusedByName() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        for wrong in Self.wrongParameters {
            var params = greedy()
            wrong.set(&params)
            let failure = failure { try core.submit(params) }
            #expect(failure?.code == RMX_ERR_ARGUMENT.rawValue, "\(wrong.field)")
            #expect(failure?.message.contains(wrong.field) == true, "\(failure?.message ?? "")")
        }
        let stats = try json { rmx_engine_stats(core.engine, $0, $1, $2, $3) }
        #expect(stats.contains(#""submitted":0"#))
    }

    @Test func promptsEndTokensAndBiasesOutOfRangeAreRefused() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        let refused: [() throws -> Void] = [
            { try core.submit(greedy(), tokens: []) }, { try core.submit(greedy(), tokens: [100]) },
            { try core.submit(greedy(), tokens: [-1]) },
            { try core.submit(greedy(), tokens: [Int32](repeating: 1, count: 65)) },
            { try core.submit(greedy(), ends: [Int32](repeating: 1, count: 65)) },
            { try core.submit(greedy(), bias: [rmx_alternative(token: 100, logprob: 0)]) },
            { try core.submit(greedy(), bias: [rmx_alternative(token: 1, logprob: .nan)]) },
        ]
        for submit in refused {
            #expect(failure { try submit() }?.code == RMX_ERR_ARGUMENT.rawValue)
        }
        try core.submit(greedy(), bias: [rmx_alternative(token: 1, logprob: -.infinity)])
    }

    @Test func aNullPointerIsRefusedInEveryPlace() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        let (engine, model) = (core.engine, core.model)
        var error = rmx_error()
        var (length, weights, kv): (UInt32, UInt64, UInt64) = (0, 0, 0)
        var (event, batch, params) = (rmx_event(), rmx_batch(), greedy())
        let path: [UInt8] = [97]
        let statuses = [
            rmx_abi_manifest(nil, 0, nil, &error), rmx_abi_manifest(nil, 1 << 20, &length, &error),
            rmx_device_info(nil, 1 << 20, &length, &error), rmx_engine_open(nil, 0, nil, &error),
            rmx_engine_open(nil, 5, &length, &error), rmx_engine_wait(engine, nil, 1, nil, 0, 0, &batch, &error),
            rmx_engine_wait(engine, &event, 1, nil, 8, 0, &batch, &error),
            rmx_engine_wait(engine, &event, 1, nil, 0, 0, nil, &error),
            rmx_engine_wait(engine, &event, 0, nil, 0, 0, &batch, &error),
            rmx_engine_stats(engine, nil, 1 << 20, &length, &error),
            rmx_model_estimate(path, 1, nil, 0, nil, &weights, &error),
            rmx_model_estimate(nil, 1, nil, 0, &weights, &kv, &error),
            rmx_model_load(engine, nil, 0, nil, 0, &length, &error),
            rmx_model_load(engine, path, 1, nil, 0, nil, &error),
            rmx_model_load(engine, path, 1, nil, 3, &length, &error),
            rmx_request_submit(engine, model, nil, [1], 1, nil, 0, nil, 0, &error),
            rmx_request_submit(engine, model, &params, nil, 1, nil, 0, nil, 0, &error),
            rmx_request_submit(engine, model, &params, [1], 1, nil, 1, nil, 0, &error),
            rmx_request_submit(engine, model, &params, [1], 1, nil, 0, nil, 1, &error),
        ]
        for (i, status) in statuses.enumerated() {
            #expect(status == RMX_ERR_ARGUMENT.rawValue, "call \(i)")
        }
    }

    @Test func pathsThatAreNoTextAreRefused() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        var model: rmx_model = 0
        for path: [UInt8] in [[0xFF], [97, 0, 98], [UInt8](repeating: 97, count: 5000)] {
            var error = rmx_error()
            let status = rmx_model_load(core.engine, path, UInt32(path.count), nil, 0, &model, &error)
            #expect(status == RMX_ERR_ARGUMENT.rawValue)
        }
    }

    @Test func unknownConfigKeysAreRefusedByName() throws {
        let failure = failure { _ = try OpenCore(config: #"{"speed":9}"#) }
        #expect(failure?.code == RMX_ERR_ARGUMENT.rawValue && failure?.message.contains("speed") == true)
    }

    @Test func threadsAreSetAndACountThatThisBuildCantHaveIsRefused() throws {
        let before = Processor.threads
        let failure = failure { _ = try OpenCore(config: #"{"threads":1000}"#) }
        #expect(failure?.code == RMX_ERR_ARGUMENT.rawValue && failure?.message.contains("1000") == true)
        #expect(Processor.threads == before)
        guard before != nil else { return }
        try OpenCore(config: #"{"threads":3}"#).close()
        let device = try json { rmx_device_info($0, $1, $2, $3) }
        #expect(device.contains(#""threads":3"#))
        try OpenCore().close()
        #expect(Processor.threads != 3 || before == 3)
    }

    @Test func aLongMessageIsCutAtACharacter() throws {
        let core = try OpenCore()
        defer { try? core.close() }
        let key = String(repeating: "\u{1F600}", count: 100)
        let message = failure { _ = try core.load("counting", "{\"\(key)\":1}") }?.message ?? ""
        #expect(message.utf8.count <= 248 && message.utf8.count > 240 && !message.contains("\u{FFFD}"))
    }
}
