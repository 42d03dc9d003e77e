/// Finds numbers that are not finite, at the speed of memory.
///
/// Takes a tensor's bytes and its element type; gives the index of the first NaN or infinity. A number is unsound
/// exactly if all bits of its exponent are set, so no float is ever made.

/// The search.
enum FiniteNumbers {
    /// Elements that are looked through before the first branch.
    private static let chunk = 4096

    /// - Parameters:
    ///   - start: `count` bytes, aligned to the elements.
    ///   - type: F16, BF16 or F32; U8: exponents of two, where 255 is the NaN. Other types have none.
    /// - Returns: Index of the first element that is not finite.
    static func firstUnsound(_ start: UnsafeRawPointer, bytes: Int, type: TensorType) -> Int? {
        switch type {
        case .f16: first(start.assumingMemoryBound(to: UInt16.self), bytes / 2, exponent: 0x7C00)
        case .bf16: first(start.assumingMemoryBound(to: UInt16.self), bytes / 2, exponent: 0x7F80)
        case .f32: first(start.assumingMemoryBound(to: UInt32.self), bytes / 4, exponent: 0x7F80_0000)
        case .u8: first(start.assumingMemoryBound(to: UInt8.self), bytes, exponent: 0xFF)
        default: nil
        }
    }

    private static func first<Word: FixedWidthInteger>(
        _ words: UnsafePointer<Word>, _ count: Int, exponent: Word
    ) -> Int? {
        var begin = 0
        while begin < count {
            let end = min(begin + chunk, count)
            var unsound: Word = 0
            for index in begin..<end { unsound |= words[index] & exponent == exponent ? 1 : 0 }
            if unsound != 0 { return (begin..<end).first { words[$0] & exponent == exponent } }
            begin = end
        }
        return nil
    }
}
