/// Handles: numbers that name a slot and its generation, so that a stale one is noticed and can't touch a successor.
///
/// Models are kept in a table inside the engine, because the engine thread frees them (a failed load, an unload) and
/// their events carry the handle; the bridge keeps its engines in another table of the same type.
///
/// Invariants: a handle is never 0; a freed handle is not given again until its slot was used 65,535 more times.

/// A table of up to 65,536 values by handle.
///
/// Not synchronized: its owner locks.
public struct HandleTable<Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        var generation: UInt16
        var value: Value?
    }

    private var slots: [Slot] = []
    private let countMax: Int
    /// Values held.
    public private(set) var count = 0

    /// An empty table for at most `countMax` values, 1 to 65,536.
    public init(countMax: Int) {
        self.countMax = countMax
    }

    /// Takes a value; nil when the table is full.
    public mutating func insert(_ value: Value) -> UInt32? {
        guard count < countMax else { return nil }
        let slot: Int
        if let free = slots.firstIndex(where: { $0.value == nil }) {
            slot = free
        } else {
            slot = slots.count
            slots.append(Slot(generation: 1, value: nil))
        }
        slots[slot].value = value
        count += 1
        return UInt32(slots[slot].generation) << 16 | UInt32(slot)
    }

    /// The value of a live handle; setting nil frees the handle, setting a stale one does nothing.
    public subscript(handle: UInt32) -> Value? {
        get {
            guard let slot = index(of: handle) else { return nil }
            return slots[slot].value
        }
        set {
            guard let slot = index(of: handle) else { return }
            slots[slot].value = newValue
            if newValue == nil {
                slots[slot].generation = slots[slot].generation == .max ? 1 : slots[slot].generation + 1
                count -= 1
            }
        }
    }

    /// Live handles with their values, by slot.
    public var entries: [(handle: UInt32, value: Value)] {
        slots.indices.compactMap { i in
            slots[i].value.map { (UInt32(slots[i].generation) << 16 | UInt32(i), $0) }
        }
    }

    private func index(of handle: UInt32) -> Int? {
        let slot = Int(handle & 0xFFFF)
        guard slot < slots.count, slots[slot].value != nil, slots[slot].generation == UInt16(handle >> 16) else {
            return nil
        }
        return slot
    }
}
