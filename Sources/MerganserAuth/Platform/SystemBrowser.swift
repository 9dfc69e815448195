#if canImport(AuthenticationServices)
internal import AuthenticationServices
public import Foundation

#if canImport(UIKit)
internal import UIKit
#endif

/// The server's own app if it is installed, else the system's browser.
///
/// Only a direct open of a universal link reaches the app (TN3155); from within a browser the flow stays there.
public struct SystemBrowser: Browser {
    private let prefersEphemeralSession: Bool

    /// - Parameter prefersEphemeralSession: whether the browser forgets the user's sign-in at the server.
    public init(prefersEphemeralSession: Bool = false) { self.prefersEphemeralSession = prefersEphemeralSession }

    public func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? {
        #if canImport(UIKit)
        // The way back comes through `handle`.
        if await UIApplication.shared.open(url, options: [.universalLinksOnly: true]) { return nil }
        #endif
        return try await BrowserSheet(prefersEphemeralSession).open(url, returningTo: redirectURI)
    }
}

/// One ASWebAuthenticationSession.
@MainActor private final class BrowserSheet: NSObject, ASWebAuthenticationPresentationContextProviding {
    private let prefersEphemeralSession: Bool
    private var session: ASWebAuthenticationSession?

    init(_ prefersEphemeralSession: Bool) { self.prefersEphemeralSession = prefersEphemeralSession }

    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let session = ASWebAuthenticationSession(url: url, callbackURLScheme: redirectURI.scheme) {
                    url, error in
                    if let url {
                        continuation.resume(returning: url)
                    } else if (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin {
                        continuation.resume(throwing: MerganserError.userCancelled)
                    } else {
                        continuation.resume(throwing: MerganserError.browserUnavailable)
                    }
                }
                session.presentationContextProvider = self
                session.prefersEphemeralWebBrowserSession = prefersEphemeralSession
                self.session = session
                if !session.start() { continuation.resume(throwing: MerganserError.browserUnavailable) }
            }
        } onCancel: {
            Task { @MainActor in self.session?.cancel() }
        }
    }

    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
        #if canImport(UIKit)
        let windows = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }.flatMap(\.windows)
        return windows.first { $0.isKeyWindow } ?? windows.first ?? ASPresentationAnchor()
        #else
        return ASPresentationAnchor()
        #endif
    }
}
#endif
