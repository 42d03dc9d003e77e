/// Exports of the header's section "Guided requests". Here: pointers and sizes. What may be told is the engine's to
/// check (`ToldPositions`).

import CABI
import Engine

/// `rmx_request_mask`.
@_cdecl("rmx_request_mask")
public func requestMask(
    _ engine: rmx_engine, _ tag: UInt32, _ position: UInt32, _ rows: UInt32, _ words: UnsafePointer<UInt32>?,
    _ wordCount: UInt32, _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        let open = try Engines.shared.require(engine)
        guard wordCount > 0 else {
            return try open.allow(tag: tag, position: Int(position), rows: Int(rows))
        }
        let copied = try copy(words, wordCount, "words", most: BridgeLimits.maskWordsMax)
        try open.mask(tag: tag, position: Int(position), rows: Int(rows), words: copied)
    }
}

/// `rmx_request_force`.
@_cdecl("rmx_request_force")
public func requestForce(
    _ engine: rmx_engine, _ tag: UInt32, _ position: UInt32, _ tokens: UnsafePointer<Int32>?, _ count: UInt32,
    _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        let open = try Engines.shared.require(engine)
        let copied = try copy(tokens, count, "tokens", most: Limits.maskAheadMax)
        try open.force(tag: tag, position: Int(position), tokens: copied)
    }
}

/// `rmx_request_replace_end`.
@_cdecl("rmx_request_replace_end")
public func requestReplaceEnd(
    _ engine: rmx_engine, _ tag: UInt32, _ tokens: UnsafePointer<Int32>?, _ count: UInt32,
    _ error: UnsafeMutablePointer<rmx_error>?
) -> rmx_status {
    guarded(error) {
        let open = try Engines.shared.require(engine)
        try open.replaceEnd(tag: tag, with: try copy(tokens, count, "tokens", most: Limits.maskAheadMax))
    }
}
