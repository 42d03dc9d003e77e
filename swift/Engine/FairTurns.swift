/// Turns between clients: who was served longest ago is next, and who is new comes after all who wait.

/// A round robin over clients that come and go.
struct FairTurns {
    private var turns: [UInt32: UInt64] = [:]
    private var lastTurn: UInt64 = 0

    /// The client takes part from now on; nothing changes if it already does.
    mutating func join(_ client: UInt32) {
        if turns[client] == nil { serve(client) }
    }

    /// The client had its turn.
    mutating func serve(_ client: UInt32) {
        lastTurn += 1
        turns[client] = lastTurn
    }

    /// The client is gone.
    mutating func leave(_ client: UInt32) {
        turns[client] = nil
    }

    /// Lower is sooner.
    func turn(of client: UInt32) -> UInt64 {
        turns[client] ?? .max
    }

    /// Clients that take part.
    var count: Int { turns.count }
}
