import Accounts
import Analytics
import HTTP
import JSON
import Testing

@testable import API

/// `Golden/routes.txt` has the credential that each route accepts, found by sending requests, and which endpoints store
/// their answer for repetition. The route table's own requirement is compared with what was found.
@Suite struct RouteTableTests {
    let app: TestApp
    let client: Client
    let agent: TestAgent

    init() throws {
        app = try TestApp()
        client = app.client()
        agent = try client.agent(of: client.bootstrap(99), in: app)
    }

    @Test func theRouteTableIsPinned() throws {
        var number = 0
        let lines = try Routes.accounts.map { route in
            number += 100
            let line = line(route, try credential(of: route, firstPhone: number))
            return route.replay.map { line.padded(to: 94) + " " + "replays by \($0.name)" } ?? line
        }
        try expectGolden(
            "routes.txt", lines + providerLines(firstPhone: number) + administrationLines() + analyticsLines())
    }

    /// The routes of administration, by the refusal of somebody who is no administrator.
    private func administrationLines() throws -> [String] {
        let browser = TestBrowser(app)
        browser.open("/oauth/device")
        try browser.signIn(as: "visitor", email: "visitor@example.com")
        var number = 1_000_000
        return try Routes.administration.map { route in
            number += 100
            guard route.isPage else { return line(route, try credential(of: route, firstPhone: number)) }
            let path = route.pattern.replacing(/\{[a-z_]+\}/, with: "1")
            let refusal = browser.send(route.method, path, headers: [("accept", "application/json")])
            let credential = refusal.error == "admin_required" ? "web session of an administrator" : "anyone"
            return line(route, credential).padded(to: 94) + " page"
        }
    }

    /// The routes that also accept relying parties and access tokens.
    private func providerLines(firstPhone: Int) throws -> [String] {
        let scene = try OAuthScene(app)
        let (open, confidential) = (try scene.register(), try scene.register(confidential: true))
        var number = firstPhone
        return try Routes.oauth.map { route in
            func isUnknownClient(_ form: [(String, String?)], authorization: String? = nil) -> Bool {
                let headers = authorization.map { [(name: "authorization", value: $0)] } ?? []
                return client.send(route.method, route.pattern, bytes: encoded(form), headers: headers).error
                    == "invalid_client"
            }
            number += 100
            let credential: String
            if isUnknownClient([], authorization: basic("logi_unknown", "x")) {
                let byForm = [("client_id", Optional(confidential.clientID)), ("client_secret", confidential.secret)]
                credential =
                    (isUnknownClient([("client_id", open.clientID)]) ? "confidential client" : "client")
                    + (isUnknownClient(byForm) ? " by Basic" : "")
            } else if send(route, token: try client.bootstrap(number).token).error == "invalid_token" {
                credential = "access token"
            } else {
                credential = try self.credential(of: route, firstPhone: number)
            }
            let line = line(route, credential)
            let more = [
                route.replay.map { "replays by \($0.name)" }, route.isCrossOrigin ? "any origin" : nil,
                route.isPage ? "page" : nil,
            ].compactMap { $0 }
            return more.isEmpty ? line : line.padded(to: 94) + " " + more.joined(separator: ", ")
        }
    }

    /// Has the permission that the refusal of a key without permissions names.
    private func analyticsLines() throws -> [String] {
        let key = try AnalyticsScene(app).makeKey(.agent, permissions: [])
        return Routes.analytics.map { route in
            let refused = send(route, token: key)
            let permission = refused.status == 403 ? refused.error?.split(separator: ": ").last.map(String.init) : nil
            return line(route, permission ?? "anyone")
        }
    }

    /// - Parameter credential: what asking showed.
    private func line(_ route: Route, _ credential: String) -> String {
        let start = route.method.rawValue.padded(to: 7) + route.pattern.padded(to: 47)
        #expect(credential == route.requirement.name, "\(start)")
        return start + credential
    }

    /// The credential that a route accepts: the answer is then about the content of the request, not about its sender.
    private func credential(of route: Route, firstPhone: Int) throws -> String {
        let stranger = send(route, token: nil)
        if stranger.header("Location")?.hasPrefix("/oauth/login?") == true {
            // Signing in leads back to the page itself. Some pages can also be begun without, and go on elsewhere.
            let pages = try app.column(
                "SELECT JSON_VALUE(parameters, '$.page') FROM authorization_requests ORDER BY id DESC LIMIT 1")
            return pages == ["NULL"] ? "anyone" : "web session"
        }
        if stranger.status != 401 { return "anyone" }
        if send(route, token: agent.token).error != "invalid_token" { return "agent" }
        var number = firstPhone
        func answer(
            scopes: String, application: Int? = nil, anonymous: Bool = true, role: String = "developer"
        ) throws -> Answer {
            number += 1
            let phone = try client.bootstrap(number)
            try app.change(
                "UPDATE paks SET scopes = ?, application_id = ? WHERE user_id = ?", scopes, application, phone.userID)
            try app.change(
                "UPDATE users SET anonymous = ?, role = ? WHERE id = ?", anonymous, role, phone.userID)
            return send(route, token: phone.token, clientID: "logi_\(firstPhone)")
        }
        let full = PAK.fullScopes.map(\.rawValue).joined(separator: " ")
        let scopes = try PAK.fullScopes.filter { scope in
            let others = PAK.fullScopes.filter { $0 != scope }.map(\.rawValue).joined(separator: " ")
            return try answer(scopes: others).error == "insufficient_scope"
        }
        let application = try app.makeApplication("logi_\(firstPhone)")
        let isOpenToAppBound = try answer(scopes: full, application: application).error != "insufficient_scope"
        let isForAnonymous = try answer(scopes: full, anonymous: false).error == "non_anonymous_caller"
        let isForIdentified = try answer(scopes: full, anonymous: true).error == "anonymous_requester"
        let isForDevelopers = try answer(scopes: full, role: "user").error == "developer_required"
        let isForAdministrators = try answer(scopes: full, role: "developer").error == "admin_required"
        let kind = isForAnonymous ? " of an anonymous user" : isForIdentified ? " of an identified user" : ""
        return "PAK" + kind + (isForDevelopers ? " of a developer" : "")
            + (isForAdministrators ? " of an administrator" : "") + (isOpenToAppBound ? ", app-bound too" : "")
            + scopes.map { ", \($0.rawValue)" }.joined()
    }

    /// - Parameter clientID: of the application that a PAK may be bound to.
    private func send(_ route: Route, token: String?, clientID: String = "none") -> Answer {
        let path = route.pattern.replacing("{provider}", with: "apple").replacing("{client_id}", with: clientID)
            .replacing("{id}", with: "1")
        return client.send(route.method, path, [:], token: token)
    }
}

extension Requirement {
    fileprivate var name: String {
        switch self {
        case .anyone: "anyone"
        case .pak(let scopes, let appBound):
            "PAK" + (appBound ? ", app-bound too" : "") + scopes.map { ", \($0.rawValue)" }.joined()
        case .anonymousPAK(let scope): "PAK of an anonymous user, \(scope.rawValue)"
        case .identifiedPAK(let scope): "PAK of an identified user, \(scope.rawValue)"
        case .developerPAK(let scope): "PAK of a developer, \(scope.rawValue)"
        case .administratorPAK(let scope): "PAK of an administrator, \(scope.rawValue)"
        case .administratorSession: "web session of an administrator"
        case .accessToken: "access token"
        case .agent: "agent"
        case .client: "client"
        case .confidentialClient(let basicOnly): "confidential client" + (basicOnly ? " by Basic" : "")
        case .apiKey(let permission): permission.rawValue
        case .webSession: "web session"
        }
    }
}

extension ReplayScope {
    fileprivate var name: String {
        switch self {
        case .bearer: "bearer token"
        case .identityToken: "identity_token"
        case .device(let member): "\(member) and device_secret"
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
