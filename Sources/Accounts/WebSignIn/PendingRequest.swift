import OpenSSL
import Text

/// A request that waits while its user signs in and decides. It has a random handle, which no other browser can use
/// (accounts §2.4).
package struct PendingRequest: Sendable {
    package enum Purpose: Sendable, Equatable {
        case authorization(AuthorizationRequest)
        /// A visit to the device page, with the user code from its URL.
        case device(userCode: String?)
        /// A visit to another page of this server, by its path with its query.
        case page(path: String)
        /// A trip to a provider for an account that is signed in.
        case account(User.ID, AccountTrip)
    }

    package let handle: String
    package let browser: Browser
    package let purpose: Purpose
    /// A session that is not accepted for this request, because a new sign-in is wanted; 0 if there was none when its
    /// user chose another account.
    package let staleSession: WebSession.ID?

    /// How long a user has to sign in and decide.
    static let lifetime = Duration.seconds(900)

    /// The session, if it is accepted for this request.
    package func counting(_ session: WebSession?) -> WebSession? { session?.id == staleSession ? nil : session }
}

/// What becomes of the identity that somebody proves who is signed in already (accounts §4.8).
package enum AccountTrip: String, Codable, Sendable {
    /// It becomes one more way to sign in to the account.
    case link
    /// Its own account goes into the one that is signed in.
    case merge
}

/// A browser, identified by its cookie.
package struct Browser: Sendable {
    /// The cookie's value.
    package let cookie: String

    /// A browser that has no cookie yet.
    package init() { cookie = Secret(.plain).text }

    /// Returns nil if the value cannot be one of this server's cookies.
    package init?(cookie: String) {
        guard cookie.utf8.count == 43, cookie.utf8.allSatisfy(PercentEncoding.isUnreserved) else { return nil }
        self.cookie = cookie
    }

    var digest: [UInt8] { Secret(presented: cookie).digest }
}

extension Accounts {
    /// The token in a form, which shows that no other site sent the form.
    ///
    /// - Parameter handle: the pending request's, or another text that says what the form is for.
    package func formToken(for handle: String, in browser: Browser) -> String {
        Base64URL.encode(serverKey.mac(formMessage(handle, browser)))
    }

    package func isFormToken(_ token: String, for handle: String, in browser: Browser) -> Bool {
        Base64URL.decode(token).map { serverKey.isMAC($0, of: formMessage(handle, browser)) } ?? false
    }

    private func formMessage(_ handle: String, _ browser: Browser) -> [UInt8] {
        Array("form\n".utf8) + sha256(handle.utf8) + browser.digest
    }
}
