import JOSE
import OpenSSL
import Text
import Time

/// What a browser is signing in for: it waits under a random handle that no other browser can use (accounts §2.4).
package struct PendingRequest: Sendable {
    package enum Purpose: Sendable, Equatable {
        case authorization(AuthorizationRequest)
        /// A visit to the device page, with the code that its address had.
        case device(userCode: String?)
    }

    package let handle: String
    package let browser: Browser
    package let purpose: Purpose
    /// A session that does not count as a sign-in for it: whoever asks wants a new one.
    package let staleSession: WebSession.ID?

    /// How long a person has to sign in and decide.
    static let lifetime = Duration.seconds(900)

    /// The session, unless it does not count.
    package func counting(_ session: WebSession?) -> WebSession? { session?.id == staleSession ? nil : session }
}

/// A browser, known by its cookie.
package struct Browser: Sendable {
    /// The cookie's value.
    package let cookie: String

    /// One that has none yet.
    package init() { cookie = Secret(.plain).text }

    /// - Parameter cookie: nil for what is no cookie of ours.
    package init?(cookie: String) {
        guard cookie.utf8.count == 43, cookie.utf8.allSatisfy(PercentEncoding.isUnreserved) else { return nil }
        self.cookie = cookie
    }

    var digest: [UInt8] { Secret(presented: cookie).digest }
}

extension Accounts {
    /// What a form of the browser carries, so that no other site can send it.
    ///
    /// - Parameter handle: of the request that waits, or what else the form is for.
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
