/// What a step holds and what becomes of it.
///
/// A step is of one model; models with work take turns. It holds one row of every running request that decodes, then
/// prefill chunks while rows are left: by priority, then turns between clients, then in order of admission, so the
/// oldest prompt of a client is done first and prompts do not all wait for the longest. The config leaves room for all
/// decode rows and one whole chunk, so neither waits for ever.

extension Scheduler {
    /// What `step` did.
    enum Progress: Equatable {
        /// A step ran, or something ended: call again.
        case worked
        /// Nothing to do until a command, a drained queue, or this time.
        case idle(untilUs: UInt64?)
    }

    /// A request and the share of it in a step.
    struct Share {
        /// Whose.
        var request: RequestState
        /// Rows in the step.
        var rowCount: Int
        /// Prompt rows, not a decode row.
        var isPrefill: Bool
        /// What comes of it.
        var ending: RequestState.Ending
    }

    /// Ends what is overdue, starts what may start, draws what was told meanwhile, and runs one step of one model.
    func step(_ pressure: EventPressure) -> Progress {
        cancelOverdue()
        admit()
        var drew = false
        for handle in modelsInTurn() {
            guard let model = models[handle] else { continue }
            drew = drawHeld(handle, model, pressure) || drew
            let requests = stepMembers(handle, pressure)
            if requests.isEmpty { continue }
            lastModel = handle
            run(requests, model)
            // What was told while the step ran is drawn at once.
            _ = drawHeld(handle, model, pressure)
            return .worked
        }
        return drew ? .worked : .idle(untilUs: nextDeadlineUs)
    }

    /// Handles in order, beginning after the model of the last step.
    private func modelsInTurn() -> [UInt32] {
        let handles = models.keys.sorted()
        return handles.filter { $0 > lastModel } + handles.filter { $0 <= lastModel }
    }

    /// Who takes part in the next step of a model.
    private func stepMembers(_ handle: UInt32, _ pressure: EventPressure) -> [RequestState] {
        var members: [RequestState] = []
        var prefilling: [RequestState] = []
        for request in running where request.request.model == handle && pressure.allows(request.tag) {
            switch request.phase {
            case .decode: members.append(request)
            case .prefill: prefilling.append(request)
            case .waiting, .held, .finished: break
            }
        }
        var rowsLeft = config.maxStepTokens - members.count
        while let i = nextPrefill(prefilling) {
            let request = prefilling.remove(at: i)
            let rows = request.nextRowCount(chunkTokens: config.prefillChunkTokens)
            if rows > rowsLeft { continue }
            rowsLeft -= rows
            prefillTurns.serve(request.request.client)
            members.append(request)
        }
        return members
    }

    /// The index of the prompt whose turn it is; the first of equals.
    private func nextPrefill(_ requests: [RequestState]) -> Int? {
        requests.indices.min { left, right in
            let (left, right) = (requests[left].request, requests[right].request)
            if left.priority != right.priority { return left.priority > right.priority }
            return prefillTurns.turn(of: left.client) < prefillTurns.turn(of: right.client)
        }
    }

    private func run(_ requests: [RequestState], _ model: ServedModel) {
        var shares: [Share] = []
        var segments: [Segment] = []
        let startedUs = clock.nowUs()
        for request in requests {
            let chunkTokens = config.prefillChunkTokens
            let ending = request.reachesDraw(chunkTokens: chunkTokens) ? ending(of: request) : .rows
            guard let segment = request.nextSegment(chunkTokens: chunkTokens, ending) else { continue }
            request.beginStep(startedUs)
            let isPrefill = if case .prefill = request.phase { true } else { false }
            shares.append(
                Share(
                    request: request, rowCount: segment.tokens.count, isPrefill: isPrefill, ending: ending))
            segments.append(segment)
        }
        let outcomes = Result { try model.runner.step(segments) }
        // The segments share their requests' histories; let go, or each token drawn would copy one.
        segments = []
        statistics.steps += 1
        statistics.lastStepUs = clock.nowUs() - startedUs
        statistics.stepUs += statistics.lastStepUs
        switch outcomes {
        case .success(let outcomes) where outcomes.count == shares.count:
            for (share, outcome) in zip(shares, outcomes) { settle(share, outcome, model.description) }
        case .success(let outcomes):
            let message = "A step of \(shares.count) segments gave \(outcomes.count) outcomes; wanted is one for each"
            fail(shares, EngineError(.internal, message))
        case .failure(let error):
            fail(shares, EngineError(wrapping: error, while: "running a step"))
        }
    }

    /// The whole step is lost: its requests end, all others go on.
    private func fail(_ shares: [Share], _ error: EngineError) {
        emit(.log(level: .error, line: "A step with \(shares.count) requests failed: \(error.message)"))
        for share in shares { finish(share.request, .failed(error)) }
    }

    private func settle(_ share: Share, _ outcome: SegmentOutcome, _ model: ModelDescription) {
        let request = share.request
        switch (share.ending, outcome) {
        case (_, .failed(let error)):
            finish(request, .failed(error))
        case (.rows, .advanced):
            countPrefill(share)
        case (.holds, .held):
            if share.isPrefill { countPrefill(share) }
            request.hold()
        case (.forces(let token), .advanced):
            if share.isPrefill { countPrefill(share) }
            accept(SampledToken(token: token), of: request)
        case (.draws, .sampled(let token)):
            guard isKnown(token, request, model) else { return }
            if share.isPrefill { countPrefill(share) }
            if replacesEnd(token, request), let first = request.pending.first {
                accept(SampledToken(token: first), of: request)
            } else {
                accept(token, of: request)
            }
        case (_, .advanced), (_, .held), (_, .sampled):
            let message = "A segment that ends in \(share.ending) came back as \(outcome)"
            finish(request, .failed(EngineError(.internal, message)))
        }
    }

    private func countPrefill(_ share: Share) {
        statistics.prefillTokens += share.rowCount
        emit(.prefill(tag: share.request.tag, doneTokens: share.request.advance(rows: share.rowCount)))
    }
}
