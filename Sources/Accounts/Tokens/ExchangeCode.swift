import ErrorCodes
import Text
import Time

/// A code as its client presents it (RFC 6749 §4.1.3, RFC 7636 §4.5).
package struct CodeExchange: Sendable {
    package var code: String
    package var redirectURI: String
    package var codeVerifier: String?

    package init(code: String, redirectURI: String, codeVerifier: String?) {
        self.code = code
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
    }
}

extension Accounts {
    /// Issues tokens for a code (accounts §2.5). A code can be used once. If its client presents it again, the family
    /// that was issued for it is revoked.
    package func exchange(
        _ exchange: CodeExchange, by application: Application, in transaction: AccountsTransaction
    ) throws -> TokenOutcome {
        let digest = Secret(presented: exchange.code).digest
        guard let found = try transaction.connection.grant(ofCode: digest),
            found.application == application.id,
            try transaction.lockForIssue(found.grant), let code = try transaction.lockCode(digest)
        else { return .refused(.unknownCode) }
        if code.isUsed {
            if let family = code.family {
                try revoke(family, of: found.grant, application, because: .codeReplay, in: transaction)
            }
            return .refused(OAuthError(.invalidGrant, "the code was already used"))
        }
        guard transaction.now < code.expiresAt else { return .refused(.unknownCode) }
        guard exchange.redirectURI.hasSameBytes(as: code.redirectURI) else {
            return .refused(OAuthError(.invalidGrant, "redirect_uri differs from the one in the authorize request"))
        }
        guard let verifier = exchange.codeVerifier, CodeChallenge.matches(code.challenge, verifier: verifier) else {
            return .refused(
                OAuthError(.invalidGrant, "code_verifier is missing, malformed or does not match the code_challenge"))
        }
        return try issue(
            to: application, found.grant, code.scopes, authenticatedAt: code.authenticatedAt,
            fromAnonymous: code.fromAnonymous, sid: code.session?.sid(at: application.id), nonce: code.nonce,
            in: transaction
        ) { family in try transaction.useCode(code, for: family) }
    }
}

extension OAuthError {
    fileprivate static let unknownCode = OAuthError(.invalidGrant, "unknown or expired code")
}
