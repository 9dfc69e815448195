import Accounts
import IdentityTokens
import JSON
import Logging

private struct ProviderMember: Decodable {
    var provider: String?
}

/// The members with which a user proves an identity.
private struct IdentityProof: Decodable {
    @Exact var identityToken: String?
    @Exact var rawNonce: String?
}

extension Call {
    /// The body's `provider`, which is checked before any other member.
    ///
    /// - Throws: `unknownProvider` if this server does not know the provider.
    func decodeProviderIfPresent() throws -> Provider? {
        guard let name = try decode(ProviderMember.self).provider else { return nil }
        guard let provider = Provider(rawValue: name) else { throw Failure.unknownProvider }
        return provider
    }

    /// Verifies the body's identity token.
    ///
    /// - Throws: the same as `verify`, and `invalidIdentityToken` if token or nonce is not valid Unicode. A replacement
    ///   character could make two different texts equal.
    func verifyProof(from provider: Provider) throws -> IdentityToken {
        let proof: IdentityProof
        do {
            proof = try json.get().decode()
        } catch .loneSurrogate {
            throw Failure.invalidIdentityToken(InvalidIdentityToken.Reason.malformedToken.rawValue)
        } catch {
            throw Failure.invalidRequest
        }
        return try verify(proof.identityToken, proof.rawNonce, provider)
    }

    /// Verifies an identity token. Call it before a transaction begins, because it may fetch keys.
    ///
    /// - Throws: `invalidRequest` if token or nonce is absent or empty; `invalidIdentityToken` with the first check
    ///   that failed; `temporarilyUnavailable` if there are no keys to verify with.
    func verify(_ token: String?, _ rawNonce: String?, _ provider: Provider) throws -> IdentityToken {
        guard let token, !token.isEmpty, let rawNonce, !rawNonce.isEmpty else { throw Failure.invalidRequest }
        return try verifying(provider) {
            try accounts.identityTokens.verify(token, rawNonce: rawNonce, provider: provider)
        }
    }

    /// Runs a verification.
    ///
    /// - Throws: `invalidIdentityToken` and `temporarilyUnavailable`, as `verify`.
    func verifying<Result>(_ provider: Provider, _ verification: () throws -> Result) throws -> Result {
        do {
            return try verification()
        } catch let error as InvalidIdentityToken {
            throw Failure.invalidIdentityToken(error.reason.rawValue)
        } catch let error as KeySetUnavailable {
            logger.warning("there is no usable key set", metadata: ["provider": "\(error.provider.rawValue)"])
            throw Failure.temporarilyUnavailable
        }
    }
}

/// - Throws: `invalidRequest` if the name is too long for an account.
func checked(_ fullName: PersonName?) throws -> PersonName? {
    if let fullName, !fullName.fits { throw Failure.invalidRequest }
    return fullName
}
