import HTTP
import IdentityTokens
import JSON
import Synchronization
import Time

/// The sign-in pages of Apple and Google, where a developer or a test types who signs in.
///
/// It checks what the providers check (client, redirect URI, response type and mode) and answers as they do: a page
/// whose form posts an identity token, or an error, back to the redirect URI. It works with and without script.
final class StandInProvider: Sendable {
    private let keys: DevelopmentIssuer
    private let providers: [Provider: ProviderSettings]
    private let issuer: String
    private let apple: StandInApple
    /// The subjects that signed in with Apple before: Apple sends a name only the first time.
    private let known = Mutex<Set<String>>([])

    init(keys: DevelopmentIssuer, providers: [Provider: ProviderSettings], issuer: String) {
        self.keys = keys
        self.providers = providers
        self.issuer = issuer
        apple = StandInApple(keys: keys, settings: providers[.apple], issuer: issuer)
    }

    @Sendable func respond(to request: Request) -> Response {
        if let answer = apple.respond(to: request) { return answer }
        let parts = request.path.split(separator: "/")
        guard parts.count == 2, let provider = Provider(rawValue: String(parts[0])), parts[1] == "authorize" else {
            return .plain(
                .notFound,
                "Only /apple/authorize, /apple/token, /apple/revoke, /apple/notify and /google/authorize are here.")
        }
        do {
            switch request.method {
            case .get:
                return .html(signInPage(try AuthorizeRequest(QueryParameters(request.query), provider, self), provider))
            case .post:
                let form = QueryParameters(try request.body.collect(limit: 65_536))
                return .html(try answerPage(form, try AuthorizeRequest(form, provider, self), provider))
            default: return .plain(.methodNotAllowed, "GET or POST")
            }
        } catch let error as RefusedSignIn {
            return .plain(.badRequest, error.reason)
        } catch {
            return .plain(.internalServerError, "\(error)")
        }
    }

    // MARK: The request

    /// The parts of an authorize request that the answer needs.
    private struct AuthorizeRequest {
        let clientID: String
        let redirectURI: String
        let state: String
        let nonce: String
        let responseType: String
        let loginHint: String?

        init(_ parameters: QueryParameters, _ provider: Provider, _ standIn: StandInProvider) throws(RefusedSignIn) {
            func required(_ name: String) throws(RefusedSignIn) -> String {
                let values = parameters.all(name)
                guard values.count == 1, !values[0].isEmpty else { throw RefusedSignIn("\(name) must be given once") }
                return values[0]
            }
            func check(_ name: String, _ expected: String?) throws(RefusedSignIn) -> String {
                let value = try required(name)
                guard let expected, value == expected else {
                    throw RefusedSignIn("\(name) is \(value), not \(expected ?? "configured")")
                }
                return value
            }
            clientID = try check("client_id", standIn.providers[provider]?.webClientID)
            redirectURI = try check("redirect_uri", "\(standIn.issuer)/auth/\(provider.rawValue)/web/callback")
            responseType = try check("response_type", provider == .apple ? "code id_token" : "id_token")
            _ = try check("response_mode", "form_post")
            _ = try check("scope", provider == .apple ? "name email" : "openid email profile")
            state = try required("state")
            nonce = try required("nonce")
            loginHint = parameters["login_hint"]
        }

        /// The parameters again, as fields of the form that says who signs in.
        func fields(_ provider: Provider) -> [(String, String)] {
            [
                ("client_id", clientID), ("redirect_uri", redirectURI), ("response_type", responseType),
                ("response_mode", "form_post"),
                ("scope", provider == .apple ? "name email" : "openid email profile"), ("state", state),
                ("nonce", nonce),
            ]
        }
    }

    // MARK: Pages

    private func signInPage(_ request: AuthorizeRequest, _ provider: Provider) -> String {
        let name = provider == .apple ? "Apple" : "Google"
        return page(
            "Sign in with \(name)",
            """
            <p>This stands in for \(name). Whoever you say you are, you are.</p>
            <form method="post" action="/\(provider.rawValue)/authorize">
            \(hidden(request.fields(provider)))
            <p><label for="subject">Subject</label>
            <input id="subject" name="subject" maxlength="255" required autofocus></p>
            <p><label for="email">E-mail</label>
            <input id="email" name="email" type="email" value="\(escaped(request.loginHint ?? ""))"></p>
            <p><label for="given_name">Given name</label> <input id="given_name" name="given_name"></p>
            <p><label for="family_name">Family name</label> <input id="family_name" name="family_name"></p>
            <p><button name="decision" value="continue">Continue</button>
            <button name="decision" value="cancel" formnovalidate>Cancel</button></p>
            </form>
            """)
    }

    private func answerPage(
        _ form: QueryParameters, _ request: AuthorizeRequest, _ provider: Provider
    ) throws -> String {
        let fields = try answer(form, request, provider)
        return page(
            "Signed in",
            """
            <form method="post" action="\(escaped(request.redirectURI))">
            \(hidden(fields))
            <p><button autofocus>Go on</button></p>
            </form>
            <script>document.forms[0].submit()</script>
            """)
    }

    private func answer(
        _ form: QueryParameters, _ request: AuthorizeRequest, _ provider: Provider
    ) throws -> [(String, String)] {
        if form["decision"] == "cancel" {
            return [
                ("error", provider == .apple ? "user_cancelled_authorize" : "access_denied"), ("state", request.state),
            ]
        }
        func given(_ name: String) -> String? { form[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let subject = given("subject") else { throw RefusedSignIn("subject is empty") }
        let (email, givenName, familyName) = (given("email"), given("given_name"), given("family_name"))
        let now = Clock.system.now.seconds
        let fullName = [givenName, familyName].compactMap { $0 }.joined(separator: " ")
        let token = try keys.token(
            of: provider,
            DevelopmentTokenClaims(
                iss: providers[provider]?.issuers.first ?? "", aud: request.clientID, sub: subject, iat: now,
                exp: now + 600, nonce: request.nonce, email: email, emailVerified: email == nil ? nil : true,
                name: provider == .google && !fullName.isEmpty ? fullName : nil))
        var fields = [("state", request.state), ("id_token", token)]
        if provider == .apple {
            fields.append(("code", apple.code(for: subject, of: request.clientID)))
            if known.withLock({ $0.insert(subject).inserted }) {
                let user = AppleUser(name: .init(firstName: givenName, lastName: familyName), email: email)
                fields.append(("user", String(decoding: user.json(), as: UTF8.self)))
            }
        }
        return fields
    }

    /// What Apple posts when somebody signs in for the first time.
    private struct AppleUser: Encodable {
        struct Name: Encodable {
            let firstName: String?
            let lastName: String?

            private enum CodingKeys: String, CodingKey {
                case firstName, lastName
            }
        }

        let name: Name
        let email: String?
    }

    private func hidden(_ fields: [(String, String)]) -> String {
        fields.map { "<input type=\"hidden\" name=\"\($0)\" value=\"\(escaped($1))\">" }.joined(separator: "\n")
    }

    /// - Parameter content: HTML.
    private func page(_ title: String, _ content: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title)</title>
        <style>
        :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
        body { max-width: 24rem; margin: 2rem auto; padding: 0 1rem }
        label, input { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .25rem }
        button { font: inherit; padding: .5rem 1rem }
        </style>
        </head>
        <body>
        <main>
        <h1>\(title)</h1>
        \(content)
        </main>
        </body>
        </html>

        """
    }
}

/// Why the stand-in shows no page; the text that the real provider would show.
private struct RefusedSignIn: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Text as HTML, which may also stand in an attribute's value.
private func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { html, scalar in
        switch scalar {
        case "&": html += "&amp;"
        case "<": html += "&lt;"
        case ">": html += "&gt;"
        case "\"": html += "&quot;"
        default: html.unicodeScalars.append(scalar)
        }
    }
}

extension Response {
    fileprivate static func html(_ text: String) -> Response {
        Response(.ok, headers: [HeaderField("Content-Type", "text/html; charset=utf-8")], body: Array(text.utf8))
    }

    static func plain(_ status: Status, _ text: String) -> Response {
        Response(
            status, headers: [HeaderField("Content-Type", "text/plain; charset=utf-8")], body: Array("\(text)\n".utf8))
    }
}
