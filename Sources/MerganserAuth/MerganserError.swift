public import Foundation

/// What went wrong, by what the app can do about it.
///
/// Besides, methods throw `CancellationError` if the calling task is cancelled.
public enum MerganserError: Error, Hashable, Sendable {
    /// The user closed the browser, or another sign-in took this one's place. Nothing to report to them.
    case userCancelled
    /// Another sign-in waits for the browser.
    case alreadyInProgress
    /// Nobody came back from the browser or the other app in time.
    case handoffTimeout
    /// `MerganserAuth.configure` was not called.
    case notConfigured
    /// `configure` refused what it got.
    case configurationRefused(ConfigurationFault)
    /// This system has no browser to sign in with, and the app named none.
    case browserUnavailable
    /// The answer that came back belongs to another sign-in.
    case stateMismatch
    /// The answer that came back has neither a code nor an error. Another app or host may have claimed the redirect URI.
    case missingCode
    /// The server refused the sign-in, with an error code of OAuth 2.0 such as `access_denied`.
    case authorizationRefused(code: String, description: String?)
    /// The server's id_token cannot be believed.
    case invalidIDToken(IDTokenFault)
    /// Nobody is signed in.
    case signedOut(SignedOutReason)
    /// The account was deleted. Until `purgeAt` the server's operator can restore it; where the server is set so, a sign-in
    /// does, and this is not thrown.
    case accountDeleted(purgeAt: Date)
    /// There was no answer. What changes who is signed in, such as a refresh, a link or a swap, is repeated when the session
    /// is used next. Whether any other request arrived, such as an approval, a deletion or the exchange of a code, is not
    /// known.
    case offline
    /// What is stored cannot be read or written now. Nothing was deleted. Out of what is `unreadable` for good, because a
    /// later version of the app has written it, `signOut` leads.
    case storeUnavailable(StoreFault)
    /// What the server sent cannot be written there.
    case fileUnavailable(URL)
    /// The server refused, or could not answer.
    ///
    /// - Parameters:
    ///   - code: its error code, such as `rate_limited`.
    ///   - requestID: names the request in the server's log.
    case server(status: Int, code: String?, requestID: String?)
}

/// Why nobody is signed in.
public enum SignedOutReason: String, Codable, Hashable, Sendable {
    /// Nobody has signed in so far.
    case neverSignedIn
    /// The app called `signOut`, or the user deleted the account.
    case requested
    /// The server no longer accepts the credentials, or an answer that changed them was lost for too long.
    case signInAgain
    /// The server does not know the device, or knows another secret. The next `bootstrap` makes a new device and a new
    /// guest.
    case deviceUnknown
}

extension MerganserError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .userCancelled: "The sign-in was cancelled."
        case .alreadyInProgress: "Another sign-in is under way."
        case .handoffTimeout: "The sign-in took too long."
        case .notConfigured: "The app has not set up its sign-in."
        case .configurationRefused(let fault): fault.explanation
        case .browserUnavailable: "There is no browser to sign in with."
        case .stateMismatch: "The answer belongs to another sign-in."
        case .missingCode: "The sign-in ended without an answer."
        case .authorizationRefused(let code, let description):
            "The sign-in was refused: \(description ?? code)"
        case .invalidIDToken(let fault): "The server's answer cannot be verified: \(fault)."
        case .signedOut: "Nobody is signed in."
        case .accountDeleted: "The account was deleted."
        case .offline: "The server cannot be reached."
        case .storeUnavailable: "The stored sign-in cannot be read now."
        case .fileUnavailable: "The file cannot be written."
        case .server(let status, let code, let requestID):
            "The server answered \(status)\(code.map { " \($0)" } ?? "")\(requestID.map { " (request \($0))" } ?? "")."
        }
    }

    public var recoverySuggestion: String? {
        switch self {
        case .userCancelled, .handoffTimeout, .stateMismatch: "Sign in again."
        case .alreadyInProgress: "Finish the sign-in that is open."
        case .notConfigured: "Call MerganserAuth.configure before anything else."
        case .configurationRefused(let fault): fault.suggestion
        case .browserUnavailable: "Pass a Browser to configure."
        case .missingCode:
            "Use a custom scheme for the redirect URI; a universal link on the server's host opens the server's own app."
        case .authorizationRefused(let code, _):
            code == "access_denied" ? "Sign in again and allow the access." : "Check the application at the server."
        case .invalidIDToken: "Check issuer and client_id."
        case .signedOut(.deviceUnknown): "Call bootstrap for a new guest, or sign in."
        case .signedOut: "Sign in."
        case .accountDeleted(let purgeAt): "The support can restore it until \(purgeAt.formatted(.iso8601))."
        case .offline: "Try again when the network is back."
        case .storeUnavailable(.locked): "Try again after the device was unlocked."
        case .storeUnavailable: "Try again."
        case .fileUnavailable: "Choose another place."
        case .server(let status, _, _): status >= 500 || status == 429 ? "Try again later." : nil
        }
    }
}
