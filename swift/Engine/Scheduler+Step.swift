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
        /// Whether a token is drawn.
        var samples: Bool
    }

    /// Ends what is overdue, starts what may start, and runs one step of one model.
    func step(_ pressure: EventPressure) -> Progress {
        cancelOverdue()
        admit()
        for handle in modelsInTurn() {
            guard let model = models[handle] else { continue }
            let requests = stepMembers(handle, pressure)
            if requests.isEmpty { continue }
            lastModel = handle
            run(requests, model)
            return .worked
        }
        return .idle(untilUs: nextDeadlineUs)
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
            if case .decode = request.phase { members.append(request) } else { prefilling.append(request) }
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
            guard let segment = request.nextSegment(chunkTokens: config.prefillChunkTokens) else { continue }
            request.beginStep(startedUs)
            let isPrefill = if case .prefill = request.phase { true } else { false }
            shares.append(
                Share(
                    request: request, rowCount: segment.tokens.count, isPrefill: isPrefill,
                    samples: segment.sample != nil))
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
        switch outcome {
        case .failed(let error):
            finish(request, .failed(error))
        case .advanced where !share.samples:
            countPrefill(share)
        case .sampled(let token) where share.samples:
            guard 0..<Int32(clamping: model.vocabularySize) ~= token.token else {
                let message = "Token \(token.token) was drawn; the vocabulary has \(model.vocabularySize)"
                finish(request, .failed(EngineError(.internal, message)))
                return
            }
            if share.isPrefill { countPrefill(share) }
            let index = request.completionTokens
            let end = request.take(token.token, nowUs: clock.nowUs())
            statistics.completionTokens += 1
            emit(.token(tag: request.tag, index: index, token: token))
            if let end { finish(request, end) }
        case .advanced, .sampled:
            let message = "A segment that \(share.samples ? "draws" : "draws no") token came back the other way"
            finish(request, .failed(EngineError(.internal, message)))
        }
    }

    private func countPrefill(_ share: Share) {
        statistics.prefillTokens += share.rowCount
        emit(.prefill(tag: share.request.tag, doneTokens: share.request.advance(rows: share.rowCount)))
    }
}
