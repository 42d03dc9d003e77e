/// What this library is made of, for the caller to compare: version, struct sizes and offsets as this build has them.
///
/// The offsets come from the compiler's own layout of the imported C structs, not from the header's text: src/ffi
/// computes them from the text, so a difference between the two is found at start.

import CABI
import Engine

/// The JSON of rmx_abi_manifest.
struct Manifest: Encodable {
    /// Size and field offsets in bytes.
    struct Layout: Encodable {
        var size: Int
        var fields: [String: Int]

        /// - Parameter fields: Each with what `MemoryLayout.offset(of:)` gives; nil can't happen for a C struct's field
        ///   and would show as -1.
        init<Struct>(_: Struct.Type, _ fields: [(name: String, offset: Int?)]) {
            size = MemoryLayout<Struct>.size
            self.fields = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.offset ?? -1) })
        }
    }

    /// Major, minor.
    let abi = [RMX_ABI_MAJOR.rawValue, RMX_ABI_MINOR.rawValue]
    /// By C name.
    let structs = [
        "rmx_error": errorLayout, "rmx_event": eventLayout, "rmx_alternative": alternativeLayout,
        "rmx_usage": usageLayout, "rmx_batch": batchLayout, "rmx_params": paramsLayout,
    ]
    /// Version of the core.
    let core = coreVersion
    /// Version of MLX.
    let mlx = mlxVersion
    /// e.g. `linux-x86_64`.
    let platform = platformName

    private static var errorLayout: Layout {
        Layout(
            rmx_error.self,
            [
                ("code", MemoryLayout<rmx_error>.offset(of: \.code)),
                ("message_len", MemoryLayout<rmx_error>.offset(of: \.message_len)),
                ("message", MemoryLayout<rmx_error>.offset(of: \.message)),
            ])
    }

    private static var eventLayout: Layout {
        Layout(
            rmx_event.self,
            [
                ("tag", MemoryLayout<rmx_event>.offset(of: \.tag)),
                ("kind", MemoryLayout<rmx_event>.offset(of: \.kind)),
                ("flags", MemoryLayout<rmx_event>.offset(of: \.flags)),
                ("token", MemoryLayout<rmx_event>.offset(of: \.token)),
                ("status", MemoryLayout<rmx_event>.offset(of: \.status)),
                ("bytes_offset", MemoryLayout<rmx_event>.offset(of: \.bytes_offset)),
                ("bytes_len", MemoryLayout<rmx_event>.offset(of: \.bytes_len)),
                ("value", MemoryLayout<rmx_event>.offset(of: \.value)),
                ("logprob", MemoryLayout<rmx_event>.offset(of: \.logprob)),
            ])
    }

    private static var alternativeLayout: Layout {
        Layout(
            rmx_alternative.self,
            [
                ("token", MemoryLayout<rmx_alternative>.offset(of: \.token)),
                ("logprob", MemoryLayout<rmx_alternative>.offset(of: \.logprob)),
            ])
    }

    private static var usageLayout: Layout {
        Layout(
            rmx_usage.self,
            [
                ("prompt_tokens", MemoryLayout<rmx_usage>.offset(of: \.prompt_tokens)),
                ("cached_tokens", MemoryLayout<rmx_usage>.offset(of: \.cached_tokens)),
                ("completion_tokens", MemoryLayout<rmx_usage>.offset(of: \.completion_tokens)),
                ("drafted_tokens", MemoryLayout<rmx_usage>.offset(of: \.drafted_tokens)),
                ("accepted_tokens", MemoryLayout<rmx_usage>.offset(of: \.accepted_tokens)),
                ("reserved", MemoryLayout<rmx_usage>.offset(of: \.reserved)),
                ("seed", MemoryLayout<rmx_usage>.offset(of: \.seed)),
                ("queue_us", MemoryLayout<rmx_usage>.offset(of: \.queue_us)),
                ("prefill_us", MemoryLayout<rmx_usage>.offset(of: \.prefill_us)),
                ("decode_us", MemoryLayout<rmx_usage>.offset(of: \.decode_us)),
                ("reserved2", MemoryLayout<rmx_usage>.offset(of: \.reserved2)),
            ])
    }

    private static var batchLayout: Layout {
        Layout(
            rmx_batch.self,
            [
                ("event_count", MemoryLayout<rmx_batch>.offset(of: \.event_count)),
                ("bytes_len", MemoryLayout<rmx_batch>.offset(of: \.bytes_len)),
                ("pending", MemoryLayout<rmx_batch>.offset(of: \.pending)),
                ("reserved", MemoryLayout<rmx_batch>.offset(of: \.reserved)),
            ])
    }

    private static var paramsLayout: Layout {
        Layout(
            rmx_params.self,
            [
                ("size", MemoryLayout<rmx_params>.offset(of: \.size)),
                ("tag", MemoryLayout<rmx_params>.offset(of: \.tag)),
                ("seed", MemoryLayout<rmx_params>.offset(of: \.seed)),
                ("max_tokens", MemoryLayout<rmx_params>.offset(of: \.max_tokens)),
                ("flags", MemoryLayout<rmx_params>.offset(of: \.flags)),
                ("temperature", MemoryLayout<rmx_params>.offset(of: \.temperature)),
                ("top_p", MemoryLayout<rmx_params>.offset(of: \.top_p)),
                ("min_p", MemoryLayout<rmx_params>.offset(of: \.min_p)),
                ("top_k", MemoryLayout<rmx_params>.offset(of: \.top_k)),
                ("repetition_penalty", MemoryLayout<rmx_params>.offset(of: \.repetition_penalty)),
                ("presence_penalty", MemoryLayout<rmx_params>.offset(of: \.presence_penalty)),
                ("frequency_penalty", MemoryLayout<rmx_params>.offset(of: \.frequency_penalty)),
                ("penalty_window_tokens", MemoryLayout<rmx_params>.offset(of: \.penalty_window_tokens)),
                ("logprobs_top", MemoryLayout<rmx_params>.offset(of: \.logprobs_top)),
                ("client", MemoryLayout<rmx_params>.offset(of: \.client)),
                ("priority", MemoryLayout<rmx_params>.offset(of: \.priority)),
                ("deadline_ms", MemoryLayout<rmx_params>.offset(of: \.deadline_ms)),
                ("reserved", MemoryLayout<rmx_params>.offset(of: \.reserved)),
                ("reserved2", MemoryLayout<rmx_params>.offset(of: \.reserved2)),
            ])
    }
}

/// Version of MLX that Package.swift pins: mlx-swift 0.31.3 embeds it, the wheels for Linux are of it.
let mlxVersion = "0.31.1"

/// Version of the core; raised with the CHANGELOG.
let coreVersion = "0.1.0"

/// System and processor of this build.
let platformName: String = {
    #if os(macOS)
    let system = "macos"
    #else
    let system = "linux"
    #endif
    #if arch(arm64)
    return "\(system)-aarch64"
    #else
    return "\(system)-x86_64"
    #endif
}()
