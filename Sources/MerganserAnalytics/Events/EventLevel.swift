/// How grave an event is (analytics §8.2).
public enum EventLevel: String, Sendable, CaseIterable {
    /// For developers only.
    case debug
    /// Something happened, as it should.
    case info
    /// Something is odd, but the app goes on as if it were not.
    case warn
    /// Something that was asked for did not work.
    case error
}
