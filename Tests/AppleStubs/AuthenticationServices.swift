// Declarations of Apple's AuthenticationServices that SystemBrowser and Examples/GuestbookApp use, from its documentation.
public import Foundation
public import SwiftUI
public import UIKit

public typealias ASPresentationAnchor = UIWindow

public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Sendable { case canceledLogin, presentationContextInvalid, presentationContextNotProvided }

    public var code: Code { fatalError() }
}

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObject {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

@MainActor public final class ASWebAuthenticationSession {
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    public init(
        url: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler
    ) {}

    public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    public var prefersEphemeralWebBrowserSession = false
    public func start() -> Bool { fatalError() }
    public func cancel() {}
}

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
