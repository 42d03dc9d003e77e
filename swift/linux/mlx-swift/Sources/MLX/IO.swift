// Files of arrays: safetensors (named arrays and text metadata) and npy (one array).
import CMLX
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a file can't be read or written before MLX looks at it.
public enum LoadSaveError: Error {
    case unableToOpen(URL, String)
    case unknownExtension(String)
}

extension LoadSaveError: LocalizedError {
    /// The reason, for people.
    public var errorDescription: String? {
        switch self {
        case .unableToOpen(let url, let message): "\(message) \(url)"
        case .unknownExtension(let fileExtension): "Unknown extension \(fileExtension)"
        }
    }
}

/// The path of a file URL with the wanted extension.
private func path(_ url: URL, _ wanted: String) throws -> String {
    guard url.isFileURL else { throw LoadSaveError.unableToOpen(url, "not a file:") }
    guard url.pathExtension == wanted else { throw LoadSaveError.unknownExtension(url.pathExtension) }
    return url.path(percentEncoded: false)
}

/// Writes one array to a .npy file.
public func save(array: MLXArray, url: URL, stream: StreamOrDevice = .default) throws {
    let path = try path(url, "npy")
    try withError { check(evalLock.withLock { cmlx_save(path, array.handle) }) }
}

/// Writes named arrays to a .safetensors file.
public func save(
    arrays: [String: MLXArray], metadata: [String: String] = [:], url: URL,
    stream: StreamOrDevice = .default
) throws {
    let path = try path(url, "safetensors")
    try withError {
        let archive = archive(arrays, metadata)
        defer { cmlx_archive_free(archive) }
        check(evalLock.withLock { cmlx_save_safetensors(archive, path) })
    }
}

/// Named arrays as the bytes of a safetensors file.
public func saveToData(
    arrays: [String: MLXArray], metadata: [String: String] = [:]
) throws -> Data {
    try withError {
        let archive = archive(arrays, metadata)
        defer { cmlx_archive_free(archive) }
        var size = 0
        guard let bytes = evalLock.withLock({ cmlx_save_safetensors_bytes(archive, &size) }) else {
            check(false)
            return Data()
        }
        return Data(bytesNoCopy: bytes, count: size, deallocator: .custom { bytes, _ in cmlx_bytes_free(bytes) })
    }
}

/// The array of a .npy file.
public func loadArray(url: URL, stream: StreamOrDevice = .cpu) throws -> MLXArray {
    let path = try path(url, "npy")
    return try withError { MLXArray(cmlx_load(path, stream.ctx)) }
}

/// The arrays of a .safetensors file; each is read when it is computed.
public func loadArrays(url: URL, stream: StreamOrDevice = .cpu) throws -> [String: MLXArray] {
    try loadArraysAndMetadata(url: url, stream: stream).0
}

/// The arrays and the metadata of a .safetensors file; each array is read when it is computed.
public func loadArraysAndMetadata(url: URL, stream: StreamOrDevice = .cpu) throws -> (
    [String: MLXArray], [String: String]
) {
    let path = try path(url, "safetensors")
    return try withError { contents(cmlx_load_safetensors(path, stream.ctx)) }
}

/// The arrays in the bytes of a safetensors file.
public func loadArrays(data: Data, stream: StreamOrDevice = .cpu) throws -> [String: MLXArray] {
    try loadArraysAndMetadata(data: data, stream: stream).0
}

/// The arrays and the metadata in the bytes of a safetensors file.
public func loadArraysAndMetadata(data: Data, stream: StreamOrDevice = .cpu) throws -> (
    [String: MLXArray], [String: String]
) {
    try withError {
        data.withUnsafeBytes { contents(cmlx_load_safetensors_bytes($0.baseAddress, $0.count, stream.ctx)) }
    }
}

/// A new archive of these arrays; the caller frees it.
private func archive(_ arrays: [String: MLXArray], _ metadata: [String: String]) -> OpaquePointer? {
    let archive = cmlx_archive_new()
    for (name, array) in arrays { check(cmlx_archive_add(archive, name, array.handle)) }
    for (key, value) in metadata { cmlx_archive_add_metadata(archive, key, value) }
    return archive
}

/// What an archive holds; frees it.
private func contents(_ archive: OpaquePointer?) -> ([String: MLXArray], [String: String]) {
    guard let archive else {
        check(false)
        return ([:], [:])
    }
    defer { cmlx_archive_free(archive) }
    var arrays = [String: MLXArray]()
    for index in 0 ..< cmlx_archive_count(archive) {
        arrays[String(cString: cmlx_archive_name(archive, index))] = MLXArray(cmlx_archive_array(archive, index))
    }
    var metadata = [String: String]()
    for index in 0 ..< cmlx_archive_metadata_count(archive) {
        let key = String(cString: cmlx_archive_metadata_key(archive, index))
        metadata[key] = String(cString: cmlx_archive_metadata_value(archive, index))
    }
    return (arrays, metadata)
}
