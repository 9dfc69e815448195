// Declarations of Apple's AuthenticationServices that SystemBrowser and Examples/GuestbookApp use, from its documentation.
// Behind the session of the browser stands one that BrowserChecks directs.
public import Foundation
#if canImport(UIKit)
public import SwiftUI
public import UIKit

public typealias ASPresentationAnchor = UIWindow
#else
public import AppKit

public typealias ASPresentationAnchor = NSWindow
#endif

public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Sendable { case canceledLogin, presentationContextInvalid, presentationContextNotProvided }

    public let code: Code

    public init(_ code: Code) { self.code = code }
}

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObject {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

@MainActor public final class ASWebAuthenticationSession {
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    /// How the browser comes back.
    public struct Callback: Sendable {
        public static func customScheme(_ scheme: String) -> Callback { Callback(description: "\(scheme):") }
        public static func https(host: String, path: String) -> Callback {
            Callback(description: "https://\(host)\(path)")
        }

        let description: String
    }

    /// What a check has the browser do.
    public struct Script: Sendable {
        /// What the handler is called with, on another thread, one after the other.
        public var calls: [(URL?, ASWebAuthenticationSessionError?)]
        public var starts: Bool

        public init(calls: [(URL?, ASWebAuthenticationSessionError?)] = [], starts: Bool = true) {
            (self.calls, self.starts) = (calls, starts)
        }
    }

    public static var script = Script()
    /// How the last session came back, and how many were cancelled.
    public static var last: (callback: String, cancelled: Int) = ("", 0)

    private let call: () -> Void

    public init(url: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {
        Self.last.callback = callback.description
        let handler = Handler(call: completionHandler)
        let calls = Self.script.calls
        call = {
            // The system calls from a queue of its own.
            let thread = Thread { for (url, error) in calls { handler.call(url, error) } }
            thread.start()
            while !thread.isFinished { usleep(1000) }
        }
    }

    public convenience init(url: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {
        self.init(url: url, callback: .customScheme(callbackURLScheme ?? ""), completionHandler: completionHandler)
    }

    public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    public var prefersEphemeralWebBrowserSession = false

    public func start() -> Bool {
        call()
        return Self.script.starts
    }

    /// Calls nobody, as the system may.
    public func cancel() { Self.last.cancelled += 1 }
}

private struct Handler: @unchecked Sendable {
    let call: ASWebAuthenticationSession.CompletionHandler
}

#if canImport(UIKit)
public final class ASAuthorizationAppleIDRequest {
    public var nonce: String?
}

@MainActor public final class ASAuthorization {
    public var credential: any ASAuthorizationCredential { fatalError() }
}

public protocol ASAuthorizationCredential: NSObject {}

public final class ASAuthorizationAppleIDCredential: NSObject, ASAuthorizationCredential {
    public var identityToken: Data? { fatalError() }
    public var authorizationCode: Data? { fatalError() }
    public var fullName: PersonNameComponents? { fatalError() }
}

@MainActor public struct SignInWithAppleButton: View {
    public enum Label: Sendable { case signIn }

    public init(
        _ label: Label, onRequest: @escaping (ASAuthorizationAppleIDRequest) -> Void,
        onCompletion: @escaping (Result<ASAuthorization, any Error>) -> Void
    ) {}

    public var body: Never { fatalError() }
}
#endif
