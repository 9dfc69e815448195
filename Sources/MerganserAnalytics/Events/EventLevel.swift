/// How grave an event is (analytics §8.2).
public enum EventLevel: String, Sendable, CaseIterable {
    case debug, info, warn, error
}
