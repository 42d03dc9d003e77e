/// How a masked request draws: from logits that a step kept, once it was told what may be drawn there.
///
/// The step after a token runs at once, so that what may follow is found out meanwhile; a request that is told too late
/// keeps its logits and is drawn before a later step, and no other request waits for it. Where nothing depends on the
/// logits (a free position, a token that is known) the step draws as for any other request.

extension Scheduler {
    /// How the next segment of a request ends that reaches a position to draw.
    func ending(of request: RequestState) -> RequestState.Ending {
        guard request.request.masked else { return .draws }
        // The probability of a token that is not drawn from its own logits can only be told from kept ones.
        let tellsProbabilities = request.request.sampling.logprobsTop != nil
        if let token = request.pending.first { return tellsProbabilities ? .holds : .forces(token) }
        switch guides.allowance(tag: request.tag) {
        case .free:
            return tellsProbabilities && !guides.insteadOfEnd(tag: request.tag).isEmpty ? .holds : .draws
        case .force(let token): return tellsProbabilities ? .holds : .forces(token)
        case .mask, .nothing, nil: return .holds
        }
    }

    /// Draws for the requests of a model that hold logits and were told what may come. Gives whether any drew or ended.
    func drawHeld(_ handle: UInt32, _ model: ServedModel, _ pressure: EventPressure) -> Bool {
        let runningBefore = running.count
        var drew = false
        while true {
            var drawing: [RequestState] = []
            var draws: [HeldDraw] = []
            for request in running where request.phase == .held && request.request.model == handle {
                guard pressure.allows(request.tag), let sequence = request.sequence,
                    let choice = choice(of: request)
                else { continue }
                drawing.append(request)
                draws.append(HeldDraw(sequence: sequence, sample: request.sampleRequest(), choice: choice))
            }
            // An end token that gave way leaves its request held for one more round.
            if drawing.isEmpty { return drew || running.count < runningBefore }
            drew = true
            let outcomes = Result { try model.runner.draw(draws) }
            draws = []
            settle(drawing, outcomes, model.description)
        }
    }

    /// What a held request may draw; nil: not told yet, or it has just failed for it.
    private func choice(of request: RequestState) -> HeldDraw.Choice? {
        if let token = request.pending.first { return .force(token) }
        switch guides.allowance(tag: request.tag) {
        case .free: return .free
        case .mask(let words): return .mask(words)
        case .force(let token): return .force(token)
        case .nothing:
            let message = "The mask of position \(request.completionTokens) allows no token; wanted is one or more"
            finish(request, .failed(EngineError(.argument, message)))
            return nil
        case nil: return nil
        }
    }

    private func settle(
        _ drawing: [RequestState], _ outcomes: Result<[SegmentOutcome], any Error>, _ model: ModelDescription
    ) {
        let given: [SegmentOutcome]
        switch outcomes {
        case .success(let outcomes) where outcomes.count == drawing.count: given = outcomes
        case .success(let outcomes):
            let message = "\(drawing.count) draws gave \(outcomes.count) outcomes; wanted is one for each"
            given = drawing.map { _ in .failed(EngineError(.internal, message)) }
        case .failure(let error):
            given = drawing.map { _ in .failed(EngineError(wrapping: error, while: "drawing")) }
        }
        for (request, outcome) in zip(drawing, given) {
            switch outcome {
            case .failed(let error): finish(request, .failed(error))
            case .sampled(let token):
                guard isKnown(token, request, model), !replacesEnd(token, request) else { continue }
                accept(token, of: request)
            case .advanced, .held:
                finish(request, .failed(EngineError(.internal, "A draw came back as \(outcome)")))
            }
        }
    }

    /// Whether what was drawn is a token; a request that drew none ends.
    func isKnown(_ token: SampledToken, _ request: RequestState, _ model: ModelDescription) -> Bool {
        if 0..<Int32(clamping: model.vocabularySize) ~= token.token { return true }
        let message = "Token \(token.token) was drawn; the vocabulary has \(model.vocabularySize)"
        finish(request, .failed(EngineError(.internal, message)))
        return false
    }

    /// Whether a drawn end token gives way to tokens, which are pending then. Forced ones do not.
    func replacesEnd(_ token: SampledToken, _ request: RequestState) -> Bool {
        guard request.request.masked, request.pending.isEmpty, request.ends(with: token.token) else { return false }
        if case .force = guides.allowance(tag: request.tag) { return false }
        request.replaceEnd(with: guides.insteadOfEnd(tag: request.tag))
        return !request.pending.isEmpty
    }

    /// Takes a token: counts it, tells it, and ends the request if it is the last.
    func accept(_ token: SampledToken, of request: RequestState) {
        let index = request.completionTokens
        let end = request.take(token.token, nowUs: clock.nowUs())
        if request.request.masked { guides.take(tag: request.tag) }
        statistics.completionTokens += 1
        emit(.token(tag: request.tag, index: index, token: token))
        if let end { finish(request, end) }
    }
}
