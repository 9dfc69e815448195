import HTTP
import IdentityTokens
import JSON
import TestSupport
import Testing

/// A person's browser: it keeps cookies, follows redirects on the server, and sends the forms of the page it shows.
final class TestBrowser {
    let app: TestApp
    private let clients: [Client]
    private var sent = 0
    private(set) var cookies: [String: String] = [:]
    /// The page shown, or the answer that leads somewhere else.
    private(set) var answer: Answer
    /// The path of the page shown, with its query.
    private(set) var path = ""

    /// - Parameter nodes: of a cluster, to which its requests come in turn.
    init(_ app: TestApp, nodes: Int = 1) {
        self.app = app
        clients = (0..<nodes).map { app.client(ofNode: $0) }
        answer = Answer(Response(.noContent))
    }

    private var client: Client {
        sent += 1
        return clients[sent % clients.count]
    }

    // MARK: Requests

    /// Sends one request, and follows no redirect.
    func send(
        _ method: HTTP.Method, _ path: String, _ form: [(String, String?)] = [],
        headers: [(name: String, value: String)] = []
    ) -> Answer {
        let sent = cookies.isEmpty ? [] : [("cookie", cookies.map { "\($0)=\($1)" }.sorted().joined(separator: "; "))]
        let defaults = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8"), ("origin", "null")].filter { name, _ in
            !headers.contains { $0.name == name } && (name != "origin" || method == .post)
        }
        let answer = client.send(
            method, path, bytes: encoded(form), headers: sent + defaults + headers)
        for field in answer.response.headers where field.name == "Set-Cookie" { keep(field.value) }
        return answer
    }

    private func keep(_ cookie: String) {
        let parts = cookie.split(separator: ";").map { $0.drop { $0 == " " } }
        let pair = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        cookies[pair[0]] = parts.contains("Max-Age=0") ? nil : pair[1]
    }

    /// Opens a path and follows the server's redirects as far as they stay on it.
    @discardableResult
    func open(_ path: String) -> Answer { follow(send(.get, path), at: path) }

    private func follow(_ first: Answer, at path: String) -> Answer {
        var (answer, path) = (first, path)
        for _ in 1...10 {
            guard (300..<400).contains(answer.status), let next = answer.header("Location"), next.hasPrefix("/") else {
                break
            }
            path = next
            answer = send(.get, path)
        }
        (self.answer, self.path) = (answer, path)
        return answer
    }

    /// The target of the last answer, if it redirects to another server.
    var landed: String? { answer.header("Location") }
    /// The code that the person brings back to the application.
    var code: String? { query(of: landed ?? "")["code"] }

    // MARK: Pages

    /// Sends the form of the page shown that goes to a path.
    ///
    /// - Parameter more: fields that a user fills in or presses. They replace hidden fields of the same name; nil
    ///   leaves one out.
    @discardableResult
    func submit(
        _ action: String, _ more: KeyValuePairs<String, String?> = [:],
        headers: [(name: String, value: String)] = []
    ) throws -> Answer {
        let fields = try fields(of: action).filter { field in !more.contains { $0.key == field.0 } }
        return follow(
            send(.post, action, fields + more.map { ($0.key, $0.value) }, headers: headers), at: action)
    }

    /// The hidden fields of a form of the page shown.
    func fields(of action: String) throws -> [(String, String?)] {
        let form = try #require(
            answer.text.matches(of: /<form method="post" action="([^"]*)">(.*?)<\/form>/.dotMatchesNewlines())
                .first { $0.1 == action }, "no form to \(action) in \(answer)")
        return form.2.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/).map {
            (unescaped($0.1), unescaped($0.2))
        }
    }

    /// The addresses that the page shown links to.
    var links: [String] { answer.text.matches(of: /<a [^>]*href="([^"]*)"/).map { unescaped($0.1) } }

    var heading: String? { answer.text.firstMatch(of: /<h1>(.*?)<\/h1>/).map { unescaped($0.1) } }
    var alert: String? {
        answer.text.firstMatch(of: /role="alert"[^>]*>(.*?)<\/p>/.dotMatchesNewlines()).map {
            unescaped($0.1.replacing(/<[^>]*>/, with: ""))
        }
    }

    // MARK: Signing in

    /// From the login page to the provider, and with its answer back.
    @discardableResult
    func signIn(
        with provider: Provider = .apple, as subject: String = "subject", email: String? = "bea@example.com",
        user: String? = nil
    ) throws -> Answer {
        let trip = try setOut(to: provider)
        return try comeBack(trip, [("id_token", app.token(for: trip, subject, email: email)), ("user", user)])
    }

    /// Follows the login page's link to a provider.
    func setOut(to provider: Provider = .apple) throws -> TestTrip {
        let link = try #require(links.first { $0.hasPrefix("/auth/\(provider.rawValue)/") }, "\(answer)")
        return try TestTrip(provider, send(.get, link))
    }

    /// The provider's page posts its answer, and the browser follows.
    @discardableResult
    func comeBack(_ trip: TestTrip, _ form: [(String, String?)]) throws -> Answer {
        open(try finish(trip, form))
    }

    /// The provider's page posts its answer. It comes from another site, so the browser sends no cookie.
    ///
    /// - Returns: the target of the redirect that follows.
    func finish(_ trip: TestTrip, _ form: [(String, String?)]) throws -> String {
        let answer = trip.post(form, with: client)
        try #require(answer.status == 303, "\(answer)")
        return try #require(answer.header("Location"))
    }
}

/// The request to a provider.
struct TestTrip {
    let provider: Provider
    let address: String
    let parameters: QueryParameters

    init(_ provider: Provider, _ answer: Answer) throws {
        self.provider = provider
        try #require(answer.status == 303, "\(answer)")
        let location = try #require(answer.header("Location"))
        let parts = location.split(separator: "?", maxSplits: 1).map(String.init)
        try #require(parts.count == 2)
        address = parts[0]
        parameters = QueryParameters(parts[1])
    }

    var state: String { parameters["state"] ?? "" }
    var nonce: String { parameters["nonce"] ?? "" }

    func post(_ form: [(String, String?)], with client: Client, state: String? = nil) -> Answer {
        client.send(
            .post, "/auth/\(provider.rawValue)/web/callback",
            bytes: encoded([("state", state ?? self.state), ("code", provider == .apple ? "unused" : nil)] + form),
            headers: [
                ("content-type", "application/x-www-form-urlencoded"),
                ("origin", "https://\(provider.rawValue).example"),
            ])
    }
}

extension TestApp {
    /// The identity token at the end of a trip.
    func token(
        for trip: TestTrip, _ subject: String = "subject", email: String? = nil, extra: [String: JSONValue] = [:]
    ) -> String {
        let issuer = issuer(trip.provider)
        return issuer.token(
            subject: subject, email: email, emailVerified: email == nil ? nil : true,
            audience: .string(issuer.webClientID),
            extra: ["nonce": .string(trip.nonce)].merging(extra) { $1 })
    }
}

extension OAuthScene {
    /// The path of an authorize request.
    ///
    /// - Parameter changes: parameters to replace in, or add to, a valid request; nil leaves one out.
    func authorizePath(_ rp: TestClient, _ changes: KeyValuePairs<String, String?> = [:]) -> String {
        var parameters = parameters(rp).map { ($0.0, String?.some($0.1)) }
        for (name, value) in changes {
            if let index = parameters.firstIndex(where: { $0.0 == name }) {
                parameters[index].1 = value
            } else {
                parameters.append((name, value))
            }
        }
        return "/oauth/authorize?" + String(decoding: encoded(parameters), as: UTF8.self)
    }

    /// A browser whose person is signed in.
    func signedIn(_ subject: String = "subject", email: String? = "bea@example.com") throws -> TestBrowser {
        let browser = TestBrowser(app)
        browser.open(authorizePath(try register("Door")))
        try browser.signIn(as: subject, email: email)
        return browser
    }
}

/// The parameters of a URL's query.
func query(of url: String) -> QueryParameters {
    QueryParameters(String(url.drop { $0 != "?" }.dropFirst()))
}

private func unescaped(_ html: some StringProtocol) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")].reduce(String(html)) {
        $0.replacing($1.0, with: $1.1)
    }
}
