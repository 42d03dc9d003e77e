/// The joining of Engine with Runtime: the one place that makes the loader of real checkpoints.

import Engine
import Runtime

/// A loader of checkpoints.
@Sendable func makeRuntimeLoader() -> any ModelLoader { CheckpointLoader() }
