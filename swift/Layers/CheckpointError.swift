/// What is wrong with a checkpoint, in a sentence for the person who chose it.
///
/// `Layers`, `Models` and the weight readers throw this; `Runtime` turns it into the status of rmx.h. It knows nothing
/// of the C boundary.

/// A checkpoint that can't be loaded.
public struct CheckpointError: Error, Sendable, Equatable {
    /// Which status of rmx.h it becomes.
    public enum Kind: Sendable {
        /// A file is missing or unreadable.
        case io
        /// A file breaks its own format.
        case format
        /// Well formed, but not a model that we can run: unknown type, wrong shape, unsupported setting.
        case model
    }

    /// Which kind.
    public let kind: Kind
    /// What was tried, what was found, what is wanted.
    public let message: String

    /// Pairs them.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
