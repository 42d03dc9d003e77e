/// Exports of the header's section "Model".

import CABI
import Engine

/// `rmx_model_load`.
@_cdecl("rmx_model_load")
public func modelLoad(
    _ engine: rmx_engine, _ path: UnsafePointer<UInt8>?, _ pathLength: UInt32, _ configJSON: UnsafePointer<UInt8>?,
    _ configLength: UInt32, _ modelOut: UnsafeMutablePointer<rmx_model>?, _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        let out = try require(modelOut, "model_out")
        let open = try Engines.shared.require(engine)
        let options = try copyModelOptions(configJSON, configLength)
        out.pointee = try open.loadModel(path: copyPath(path, pathLength), options: options)
    }
}

/// `rmx_model_unload`.
@_cdecl("rmx_model_unload")
public func modelUnload(
    _ engine: rmx_engine, _ model: rmx_model, _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) { try Engines.shared.require(engine).unloadModel(model) }
}

/// `rmx_model_info`.
@_cdecl("rmx_model_info")
public func modelInfo(
    _ engine: rmx_engine, _ model: rmx_model, _ json: UnsafeMutablePointer<UInt8>?, _ cap: UInt32,
    _ lengthOut: UnsafeMutablePointer<UInt32>?, _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        try write(encodeJSON(Engines.shared.require(engine).modelInfo(model)), to: json, cap, lengthOut)
    }
}

/// Parses the config of a load or an estimate.
/// - Throws: `argument`, naming the key.
func copyModelOptions(_ json: UnsafePointer<UInt8>?, _ count: UInt32) throws(EngineError) -> ModelOptions {
    try ModelOptions(json: copy(json, count, "config_json", most: Limits.configBytesMax))
}
