import Fetch
import HTTP
import IdentityTokens
import JOSE
import JSON
import OpenSSL
import Synchronization
import Text
import Time

/// Apple's token and revocation endpoints, and notifications as Apple's server sends them.
///
/// `POST /apple/token` takes each code of the sign-in page once, and as a test's own any code that begins with `stand-in.`
/// and continues with the subject in base64url. `POST /apple/revoke` ends a token, and `GET /apple/revoke` lists the tokens
/// that were ended. `POST /apple/notify` with `type` and `sub` sends a notification to the server; `GET /apple/notification`
/// only shows its payload.
final class StandInApple: Sendable {
    private struct State {
        /// By code: subject and client id.
        var codes: [String: (subject: String, clientID: String)] = [:]
        var revoked: [String] = []
    }

    private let keys: DevelopmentIssuer
    private let settings: ProviderSettings?
    private let issuer: String
    private let state = Mutex(State())

    init(keys: DevelopmentIssuer, settings: ProviderSettings?, issuer: String) {
        self.keys = keys
        self.settings = settings
        self.issuer = issuer
    }

    /// A code that can be exchanged once.
    func code(for subject: String, of clientID: String) -> String {
        let code = Base64URL.encode(randomBytes(24))
        state.withLock { $0.codes[code] = (subject, clientID) }
        return code
    }

    /// - Returns: nil for what is not its own.
    func respond(to request: Request) -> Response? {
        switch (request.method, request.path) {
        case (.post, "/apple/token"): return answer(request, exchange)
        case (.post, "/apple/revoke"): return answer(request, revoke)
        case (.get, "/apple/revoke"): return .json(.ok, state.withLock(\.revoked))
        case (.post, "/apple/notify"): return answer(request, notify)
        case (.get, "/apple/notification"):
            return answer(request) { _ in .plain(.ok, try self.notification(QueryParameters(request.query))) }
        default: return nil
        }
    }

    private struct Refusal: Error {
        let code: String
    }

    private func answer(_ request: Request, _ body: (QueryParameters) throws -> Response) -> Response {
        do {
            return try body(QueryParameters(try request.body.collect(limit: 65_536)))
        } catch let refusal as Refusal {
            return .json(.badRequest, ["error": refusal.code])
        } catch {
            return .json(.internalServerError, ["error": "\(error)"])
        }
    }

    /// Checks what Apple checks of a client secret, but for its signature: nobody has told the key.
    private func clientID(_ form: QueryParameters) throws -> String {
        guard let clientID = form["client_id"], settings?.audiences.contains(clientID) == true,
            let secret = form["client_secret"].flatMap({ try? JWT($0) }), secret.algorithm == .es256,
            secret.claims.subject == clientID, secret.claims.audience == ["https://appleid.apple.com"],
            let expiry = secret.claims.numericDate("exp"), Double(Clock.system.now.seconds) < expiry
        else { throw Refusal(code: "invalid_client") }
        return clientID
    }

    private func exchange(_ form: QueryParameters) throws -> Response {
        let clientID = try clientID(form)
        guard form["grant_type"] == "authorization_code", let code = form["code"],
            let found = state.withLock({ $0.codes.removeValue(forKey: code) }) ?? own(code, clientID),
            found.clientID == clientID
        else { throw Refusal(code: "invalid_grant") }
        let now = Clock.system.now.seconds
        let token = try keys.token(
            of: .apple,
            DevelopmentTokenClaims(
                iss: settings?.issuers.first ?? "", aud: clientID, sub: found.subject, iat: now, exp: now + 600,
                nonce: "", email: nil, emailVerified: nil, name: nil))
        return .json(
            .ok,
            [
                "access_token": "unused", "token_type": "Bearer", "id_token": token,
                "refresh_token":
                    "r.\(Base64URL.encode(Array(found.subject.utf8))).\(Base64URL.encode(randomBytes(12)))",
            ])
    }

    private func own(_ code: String, _ clientID: String) -> (subject: String, clientID: String)? {
        guard code.hasPrefix("stand-in."), let subject = Base64URL.decode(code.utf8.dropFirst("stand-in.".utf8.count))
        else { return nil }
        return (String(decoding: subject, as: UTF8.self), clientID)
    }

    private func revoke(_ form: QueryParameters) throws -> Response {
        _ = try clientID(form)
        guard let token = form["token"] else { throw Refusal(code: "invalid_request") }
        state.withLock { $0.revoked.append(token) }
        return Response(.ok)
    }

    private struct Event: Encodable {
        var type: String
        var sub: String
        var eventTime: Int64
    }

    private struct NotificationClaims: Encodable {
        var iss: String
        var aud: String
        var iat: Int64
        var jti: String
        /// Apple writes an object as a string.
        var events: String
    }

    /// The payload.
    private func notification(_ form: QueryParameters) throws -> String {
        guard let type = form["type"], let subject = form["sub"], let key = try keys.key(.apple, .rs256) else {
            throw Refusal(code: "invalid_request")
        }
        let now = Clock.system.now
        let event = Event(type: type, sub: subject, eventTime: now.milliseconds)
        return try Signer(keyID: DevelopmentIssuer.keyID(of: key), key: key).sign(
            NotificationClaims(
                iss: settings?.issuers.first ?? "", aud: settings?.audiences.first ?? "", iat: now.seconds,
                jti: form["jti"] ?? Base64URL.encode(randomBytes(12)),
                events: String(decoding: event.json(), as: UTF8.self)))
    }

    private func notify(_ form: QueryParameters) throws -> Response {
        let payload = try notification(form)
        var options = Fetcher.Options()
        options.allowsLoopbackHTTP = true
        let answer = try Fetcher(options).post(
            "\(issuer)/auth/apple/notifications", headers: [("Content-Type", "application/json")],
            body: ["payload": payload].json())
        return .json(.ok, ["status": answer.status])
    }
}

extension Response {
    fileprivate static func json(_ status: Status, _ body: some Encodable) -> Response {
        Response(status, headers: [HeaderField("Content-Type", "application/json")], body: body.json())
    }
}
