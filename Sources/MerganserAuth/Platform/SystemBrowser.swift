#if canImport(AuthenticationServices)
internal import AuthenticationServices
public import Foundation

#if canImport(UIKit)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif

/// The server's own app if it is installed, else the system's browser.
///
/// Only a direct open of a universal link reaches the app (TN3155); from within a browser the flow stays there. An https
/// redirect URI comes back from the browser from iOS 17.4 and macOS 14.4 on; before, and in an extension, `open` throws
/// `browserUnavailable`.
public struct SystemBrowser: Browser {
    private let prefersEphemeralSession: Bool

    /// - Parameter prefersEphemeralSession: whether the browser forgets the user's sign-in at the server.
    public init(prefersEphemeralSession: Bool = false) { self.prefersEphemeralSession = prefersEphemeralSession }

    public func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? {
        #if canImport(UIKit)
        guard let application = await UIApplication.own else { throw MerganserError.browserUnavailable }
        // The way back comes through `handle`.
        if await application.open(url, options: [.universalLinksOnly: true]) { return nil }
        #endif
        let sheet = await BrowserSheet()
        return try await sheet.open(url, returningTo: redirectURI, isEphemeral: prefersEphemeralSession)
    }
}

/// One ASWebAuthenticationSession.
@MainActor private final class BrowserSheet: NSObject, ASWebAuthenticationPresentationContextProviding {
    func open(_ url: URL, returningTo redirectURI: URL, isEphemeral: Bool) async throws -> URL {
        // The system calls back from any queue, sometimes twice, and not always after `cancel`. A stream takes all of that: its
        // first element or end counts, and it ends when its reader is cancelled.
        let (ends, end) = AsyncThrowingStream<URL, any Error>.makeStream()
        let session = try session(url, redirectURI) { @Sendable url, error in
            if let url { end.yield(url) }
            let isCancelled = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
            end.finish(throwing: isCancelled ? MerganserError.userCancelled : .browserUnavailable)
        }
        session.presentationContextProvider = self
        session.prefersEphemeralWebBrowserSession = isEphemeral
        // The session does not own whom it asks for a window.
        defer { withExtendedLifetime(self) { session.cancel() } }
        if !session.start() { end.finish(throwing: MerganserError.browserUnavailable) }
        for try await url in ends { return url }
        throw CancellationError()
    }

    private func session(
        _ url: URL, _ redirectURI: URL, _ completion: @escaping @Sendable (URL?, (any Error)?) -> Void
    ) throws(MerganserError) -> ASWebAuthenticationSession {
        guard redirectURI.scheme == "https" else {
            guard redirectURI.scheme != "http" else { throw .browserUnavailable }
            return ASWebAuthenticationSession(
                url: url, callbackURLScheme: redirectURI.scheme, completionHandler: completion)
        }
        guard #available(iOS 17.4, macOS 14.4, *), let host = redirectURI.host else { throw .browserUnavailable }
        return ASWebAuthenticationSession(
            url: url, callback: .https(host: host, path: redirectURI.path), completionHandler: completion)
    }

    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
        #if canImport(UIKit)
        let scenes = UIApplication.own?.connectedScenes ?? []
        let windows = scenes.compactMap { $0 as? UIWindowScene }.flatMap(\.windows)
        return windows.first { $0.isKeyWindow } ?? windows.first ?? ASPresentationAnchor()
        #else
        return ASPresentationAnchor()
        #endif
    }
}

#if canImport(UIKit)
extension UIApplication {
    /// `UIApplication.shared`, nil in an extension. With the property itself, the library could not be part of one.
    fileprivate static var own: UIApplication? {
        let shared = NSSelectorFromString("sharedApplication")
        guard !Bundle.main.bundlePath.hasSuffix(".appex"), responds(to: shared) else { return nil }
        return perform(shared)?.takeUnretainedValue() as? UIApplication
    }
}
#endif
#endif
