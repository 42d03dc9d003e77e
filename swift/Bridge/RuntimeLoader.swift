/// The joining of Engine with Runtime: the one place that makes the loader of real checkpoints.

import Engine

/// The loader of a config.
/// - Throws: `internal` until the runtime is part of this build.
@Sendable func makeRuntimeLoader(_ config: EngineConfig) throws(EngineError) -> any ModelLoader {
    throw EngineError(.internal, "This build of the core has no runtime: it can't load models")
}
