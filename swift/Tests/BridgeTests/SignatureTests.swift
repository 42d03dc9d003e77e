/// The exported Swift functions have the C signatures of rmx.h: @_cdecl does not compare them, so these lines make the
/// compiler do it. A difference does not fail the test, it fails the build.

import CABI
import Testing

@testable import Bridge

@Test func everyExportHasTheHeadersSignature() {
    let compared = [
        same(CABI.rmx_abi_version, Bridge.abiVersion),
        same(CABI.rmx_abi_manifest, Bridge.abiManifest),
        same(CABI.rmx_device_info, Bridge.deviceInfo),
        same(CABI.rmx_selftest, Bridge.selftest),
        same(CABI.rmx_engine_open, Bridge.engineOpen),
        same(CABI.rmx_engine_wait, Bridge.engineWait),
        same(CABI.rmx_engine_wake, Bridge.engineWake),
        same(CABI.rmx_engine_stats, Bridge.engineStats),
        same(CABI.rmx_engine_close, Bridge.engineClose),
        same(CABI.rmx_model_estimate, Bridge.modelEstimate),
        same(CABI.rmx_model_load, Bridge.modelLoad),
        same(CABI.rmx_model_unload, Bridge.modelUnload),
        same(CABI.rmx_model_info, Bridge.modelInfo),
        same(CABI.rmx_request_submit, Bridge.requestSubmit),
        same(CABI.rmx_request_cancel, Bridge.requestCancel),
        same(CABI.rmx_request_mask, Bridge.requestMask),
        same(CABI.rmx_request_force, Bridge.requestForce),
        same(CABI.rmx_request_replace_end, Bridge.requestReplaceEnd),
    ]
    #expect(compared.allSatisfy { $0 })
}

/// True by its type: both have one.
private func same<Function>(_: Function, _: Function) -> Bool { true }
