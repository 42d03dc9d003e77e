/// Checks of the MLX ops that the graphs use. They join when module MLX has these ops.

import Kernels

/// The list.
public enum OpChecks {
    /// In the order of a layer.
    public static let all: [KernelCheck] = []
}
