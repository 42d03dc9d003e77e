/// Who may start: by priority, then round robin between clients, then in order of arrival; as far as there is a free
/// place and the memory of the worst case.

extension Scheduler {
    /// Starts what may start.
    func admit() {
        guard admissionDue else { return }
        admissionDue = false
        while running.count < config.maxRequests, let request = nextToStart() {
            start(request)
        }
    }

    /// The best request that fits.
    ///
    /// Those ahead of it that do not fit yet are overtaken, a bounded number of times; those that never fit end.
    private func nextToStart() -> RequestState? {
        var overtaken: [RequestState] = []
        for request in waiting.sorted(by: isAhead) {
            switch budget.verdict(request.priceBytes) {
            case .never:
                // Checked at submit too, but a model loaded since may have taken the room.
                finish(request, .failed(budget.refusal(request.priceBytes, tokens: request.capacityTokens)))
            case .later:
                if request.overtakes >= Limits.overtakesMax { return nil }
                overtaken.append(request)
            case .fits:
                for request in overtaken { request.overtakes += 1 }
                return request
            }
        }
        return nil
    }

    /// Priority is strict; within it, turns; within a client, and for equal turns, arrival, since the sort is stable.
    private func isAhead(_ left: RequestState, _ right: RequestState) -> Bool {
        if left.request.priority != right.request.priority { return left.request.priority > right.request.priority }
        return admissionTurns.turn(of: left.request.client) < admissionTurns.turn(of: right.request.client)
    }

    private func start(_ request: RequestState) {
        let client = request.request.client
        admissionTurns.serve(client)
        let sequence = newSequence()
        guard let model = models[request.request.model] else {
            finish(request, .cancelled("The model was unloaded"))
            return
        }
        do {
            try model.runner.open(sequence, capacityTokens: request.capacityTokens)
        } catch {
            // A runner that failed half way has something to free.
            model.runner.close(sequence)
            finish(request, .failed(EngineError(wrapping: error, while: "opening a cache")))
            return
        }
        waiting.removeAll { $0 === request }
        request.start(sequence)
        running.append(request)
        budget.cacheBytes += request.priceBytes
        prefillTurns.join(client)
    }
}

extension EngineError {
    /// An error of a runner or loader as it crosses the boundary.
    init(wrapping error: any Error, while doing: String) {
        self = error as? EngineError ?? EngineError(.internal, "Failed while \(doing): \(error)")
    }
}
