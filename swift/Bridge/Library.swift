/// Exports of the header's section "Library": what needs no engine.

import CABI
import CoreCommands
import Engine

/// `rmx_abi_version`.
@_cdecl("rmx_abi_version")
public func abiVersion() -> UInt32 {
    RMX_ABI_MAJOR.rawValue << 16 | RMX_ABI_MINOR.rawValue
}

/// `rmx_abi_manifest`.
@_cdecl("rmx_abi_manifest")
public func abiManifest(
    _ json: UnsafeMutablePointer<UInt8>?, _ cap: UInt32, _ lengthOut: UnsafeMutablePointer<UInt32>?,
    _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        try write(encodeJSON(Manifest()), to: json, cap, lengthOut)
    }
}

/// `rmx_device_info`.
@_cdecl("rmx_device_info")
public func deviceInfo(
    _ json: UnsafeMutablePointer<UInt8>?, _ cap: UInt32, _ lengthOut: UnsafeMutablePointer<UInt32>?,
    _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        try write(encodeJSON(DeviceDescription.current()), to: json, cap, lengthOut)
    }
}

/// `rmx_selftest`. Refused while an engine is open: both would use MLX.
@_cdecl("rmx_selftest")
public func selftest(
    _ optionsJSON: UnsafePointer<UInt8>?, _ optionsLength: UInt32, _ json: UnsafeMutablePointer<UInt8>?,
    _ cap: UInt32, _ lengthOut: UnsafeMutablePointer<UInt32>?, _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        let options = try SelftestOptions(json: copy(optionsJSON, optionsLength, "options_json", most: 64 << 10))
        let report = try Engines.shared.whileNoneIsOpen { try Selftest.run(options) }
        try write(encodeJSON(report), to: json, cap, lengthOut)
    }
}

/// `rmx_model_estimate`.
@_cdecl("rmx_model_estimate")
public func modelEstimate(
    _ path: UnsafePointer<UInt8>?, _ pathLength: UInt32, _ configJSON: UnsafePointer<UInt8>?, _ configLength: UInt32,
    _ weightBytesOut: UnsafeMutablePointer<UInt64>?, _ kvBytesPerTokenOut: UnsafeMutablePointer<UInt64>?,
    _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        let weightBytes = try require(weightBytesOut, "weight_bytes_out")
        let kvBytes = try require(kvBytesPerTokenOut, "kv_bytes_per_token_out")
        let options = try copyModelOptions(configJSON, configLength)
        let estimate = try Engines.shared.loader().estimate(path: copyPath(path, pathLength), options: options)
        weightBytes.pointee = UInt64(clamping: estimate.weightBytes)
        kvBytes.pointee = UInt64(clamping: estimate.kvBytesPerToken)
    }
}
