public import Foundation

/// What a call that waits for the server can end with.
public enum AnalyticsError: Error, Hashable, Sendable, LocalizedError {
    /// `MerganserAnalytics.configure` was not called.
    case notConfigured
    /// The endpoint is no https URL (http is for this machine only), or the key is empty.
    case configurationRefused
    /// The folder cannot be used, for this reason.
    case storeUnavailable(String)
    /// There was no answer. Ask the user to try again.
    case offline
    /// The message has nothing but white space.
    case emptyMessage
    /// The server refused, with its status and message.
    case refused(status: Int, message: String)

    public var errorDescription: String? {
        switch self {
        case .notConfigured: "MerganserAnalytics is not configured."
        case .configurationRefused: "The endpoint is no https URL, or the key is empty."
        case .storeUnavailable(let reason): "The folder for events cannot be used: \(reason)"
        case .offline: "The server did not answer."
        case .emptyMessage: "The message is empty."
        case .refused(let status, let message): "The server refused (\(status)): \(message)"
        }
    }
}
