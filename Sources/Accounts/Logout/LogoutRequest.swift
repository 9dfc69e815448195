import JOSE
import JSON
package import MariaDB
import Text
import Time

/// What a relying party sends along when it signs a user out (OpenID Connect RP-Initiated Logout 1.0).
package struct LogoutParameters: Sendable {
    package var idTokenHint: String?
    package var clientID: String?
    package var postLogoutRedirectURI: String?
    /// As the client sent it, percent-encoding and all.
    package var state: String?

    package init(idTokenHint: String?, clientID: String?, postLogoutRedirectURI: String?, state: String?) {
        self.idTokenHint = idTokenHint
        self.clientID = clientID
        self.postLogoutRedirectURI = postLogoutRedirectURI
        self.state = state
    }
}

/// What the server does about them (accounts §3.7).
package struct LogoutRequest: Codable, Sendable, Equatable {
    /// Registered: where the browser goes afterwards; nil: nowhere.
    package var redirectURI: String?
    var state: String?
    /// Whose session a valid hint is about, and which.
    var application: Int64?
    var sid: String?

    /// In bytes, percent-encoding and all. The answer to a POST carries it in a header.
    package static let stateLimit = 2000

    /// The redirect URI with the state.
    package var location: String? {
        redirectURI.map { state == nil ? $0 : RedirectTarget(uri: $0, state: state).location([]) }
    }

    /// Whether the relying party has shown that it means this session, so that nobody needs to be asked.
    package func means(_ session: WebSession) -> Bool {
        guard let application, let sid, let handle = session.handle else { return false }
        return handle.sid(at: Application.ID(rawValue: application)).text.utf8.elementsEqual(sid.utf8)
    }
}

extension Accounts {
    /// Judges what a relying party asks for. Values that cannot be verified are ignored: without a hint the user is
    /// asked; without a registered redirect URI the browser stays here.
    package func checkLogout(_ parameters: LogoutParameters, _ connection: Connection) throws -> LogoutRequest {
        let token = try parameters.idTokenHint.flatMap { try idToken($0, connection) }
        let clientID = parameters.clientID ?? token?.clientID
        // If the client named is not that of the token, neither is believed.
        guard let clientID, token?.clientID.utf8.elementsEqual(clientID.utf8) ?? true,
            let application = try connection.registeredApplication(clientID), application.status == .active
        else { return LogoutRequest() }
        var request = LogoutRequest()
        if let sid = token?.sid { (request.application, request.sid) = (application.id.rawValue, sid) }
        if let uri = parameters.postLogoutRedirectURI,
            application.postLogoutRedirectURIs.contains(where: { $0.utf8.elementsEqual(uri.utf8) })
        {
            (request.redirectURI, request.state) = (uri, parameters.state)
        }
        return request
    }

    /// An id_token of this server, expired or not.
    func idToken(
        _ text: String, _ connection: Connection
    ) throws -> (clientID: String, sub: String?, sid: String?)? {
        let keySet = try signingKeys.keySet(connection)
        guard let jwt = try? JWT(text), (try? jwt.verify(with: keySet)) != nil, jwt.type == "JWT",
            jwt.claims.issuer?.utf8.elementsEqual(settings.issuer.utf8) == true, let audience = jwt.claims.audience,
            audience.count == 1
        else { return nil }
        return (audience[0], jwt.claims.subject, jwt.claims.string("sid"))
    }

    // MARK: Handles

    private struct Handle: Codable {
        var request: LogoutRequest
        var expiresAt: Int64
    }

    /// A judged request as text for an address or a form. It is sealed, because nothing is stored for callers without
    /// credentials.
    package func handle(of request: LogoutRequest) -> String {
        let handle = Handle(request: request, expiresAt: (clock.now + PendingRequest.lifetime).seconds)
        return Base64URL.encode(serverKey.seal(handle.json(), for: Self.handleRow))
    }

    /// Nil for what is no handle, or one that expired.
    package func logoutRequest(of handle: String) -> LogoutRequest? {
        guard let sealed = Base64URL.decode(handle), let bytes = try? serverKey.open(sealed, for: Self.handleRow),
            let handle = try? Handle(json: bytes), clock.now.seconds < handle.expiresAt
        else { return nil }
        return handle.request
    }

    private static let handleRow = Array("logout_request".utf8)
}
