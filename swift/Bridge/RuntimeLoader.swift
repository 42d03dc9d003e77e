/// The joining of Engine with Runtime: the one place that makes the loader of real checkpoints.

import Engine
import Runtime

/// The loader of a config.
@Sendable func makeRuntimeLoader(_ config: EngineConfig) throws(EngineError) -> any ModelLoader {
    CheckpointLoader()
}
