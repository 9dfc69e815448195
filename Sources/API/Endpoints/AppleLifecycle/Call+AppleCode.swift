import Accounts
import Fetch
import HTTP
import IdentityTokens
import Logging
import Threads

extension Call {
    /// Exchanges an authorization code of Apple, and stores the refresh token that Apple gives for it in a transaction of its
    /// own, so that it is not lost if the sign-in is refused or fails. That may take seconds, so call it before a transaction
    /// begins. Failing to exchange the code is logged and fails nothing (accounts §4.5).
    ///
    /// - Parameters:
    ///   - token: came with the code, already verified.
    ///   - redirectURI: where the browser came back to; nil for apps.
    func exchangeAppleCode(_ code: String?, with token: IdentityToken, redirectURI: String? = nil) throws {
        guard let apple = accounts.apple, let code, exchanges(code, of: token.provider) else { return }
        let grant: AppleGrant
        do throws(AppleExchangeFailure) {
            let given = try waitOutside { () throws(AppleExchangeFailure) in
                try apple.exchange(code, for: token, redirectURI: redirectURI)
            }
            guard let given else { return logger.notice("Apple's code was not exchanged: too many requests wait") }
            grant = given
        } catch {
            return logger.warning("Apple's code was not exchanged", metadata: ["reason": "\(error)"])
        }
        let waits = try Accounts.write(database, at: accounts.clock, from: origin) { transaction in
            try accounts.place(grant, of: token, in: transaction)
        }
        // Whoever linked the identity meanwhile has not seen the token.
        if waits {
            try Accounts.write(database, at: accounts.clock, from: origin) { transaction in
                try accounts.takeBackAppleGrants(of: token, in: transaction)
            }
        }
    }

    /// Whether `exchangeAppleCode` sends this code to Apple.
    func exchanges(_ code: String?, of provider: Provider) -> Bool {
        provider == .apple && accounts.apple != nil && code?.isEmpty == false
    }
}
