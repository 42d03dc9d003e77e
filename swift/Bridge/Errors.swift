/// Errors at the edge: every exported function runs its body in `guarded`, which turns what is thrown into a status and
/// the caller's rmx_error. Nothing throws past here.

import CABI
import Engine

/// Runs a function's body and gives its status.
/// - Parameter error: The caller's, or nil. Written only on failure.
func guarded(_ error: UnsafeMutablePointer<rmx_error>?, _ body: () throws -> Void) -> rmx_status {
    do {
        try body()
        return rmx_status(RMX_OK.rawValue)
    } catch let failure as EngineError {
        write(failure, to: error)
        return failure.code.rawValue
    } catch let failure {
        let unexpected = EngineError(.internal, "An error without a status: \(failure)")
        write(unexpected, to: error)
        return unexpected.code.rawValue
    }
}

/// Copies code and message; a message over 248 bytes is cut at a character.
private func write(_ failure: EngineError, to error: UnsafeMutablePointer<rmx_error>?) {
    guard let error else { return }
    error.pointee = rmx_error()
    error.pointee.code = failure.code.rawValue
    let length = withUnsafeMutableBytes(of: &error.pointee.message) { room in
        var length = 0
        for character in failure.message {
            let bytes = Array(character.utf8)
            guard length + bytes.count <= room.count else { break }
            room[length..<length + bytes.count].copyBytes(from: bytes)
            length += bytes.count
        }
        return length
    }
    error.pointee.message_len = UInt32(length)
}
