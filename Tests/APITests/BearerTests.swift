import Accounts
import HTTP
import TestSupport
import Testing

@testable import API

/// PAKs as credentials (accounts §1.1, §0.2).
@Suite struct BearerTests {
    let app: TestApp
    let client: Client
    let phone: Phone

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.bootstrap()
    }

    private func me(_ authorization: String...) -> Answer {
        client.send(.get, "/api/v1/me", headers: authorization.map { ("authorization", $0) })
    }

    @Test func theSchemeIsReadWithoutCase() {
        for scheme in ["Bearer ", "bearer ", "BEARER ", "Bearer  ", "  Bearer "] {
            #expect(me(scheme + phone.token).status == 200, "\(scheme)")
            #expect(me(scheme + phone.token + "  ").status == 200, "\(scheme)")
        }
    }

    @Test func whatIsNoLivePAKIsInvalid() throws {
        let token = phone.token
        let headers = [
            "", "   ", "Bearer", "Bearer ", token, "Basic \(token)", "Bearer\(token)", "Bearer:\(token)",
            "Bearer \(token) x", "Bearer x\(token)", "Bearer \(token)x", "Bearer \(token.uppercased())",
            "Bearer \(token.dropLast())", "Bearer lpk_live_", "Bearer \(phone.secret)", "Bearer ' OR 1=1 --",
            "Bearer é\u{0}",
            "Bearer " + String(repeating: "x", count: 8000),
        ]
        try app.expectUnchanged {
            expectInvalid(me())
            for header in headers { expectInvalid(me(header), header) }
        }
    }

    private func expectInvalid(_ answer: Answer, _ comment: String = "") {
        #expect("\(answer)" == refusal(401, "invalid_token"), "\(comment)")
        #expect(answer.header("WWW-Authenticate") == #"Bearer error="invalid_token""#, "\(comment)")
    }

    @Test func everyRouteThatTakesAPAKRefusesOthers() throws {
        try app.expectUnchanged {
            for route in Routes.accounts where route.pattern.contains("/me") || route.method == .delete {
                let path = route.pattern.replacing("{provider}", with: "apple")
                expectInvalid(client.send(route.method, path, bytes: [0xFF], token: "lpk_live_x"), path)
            }
        }
    }

    @Test func twoCredentialsAreOneTooMany() throws {
        let header = "Bearer \(phone.token)"
        try app.expectUnchanged {
            #expect("\(me(header, header))" == refusal(400, "invalid_request"))
            #expect("\(me(header, "Basic eDp5"))" == refusal(400, "invalid_request"))
        }
    }

    @Test func aMissingScopeIsNamed() throws {
        try app.change("UPDATE paks SET scopes = 'login_history:read profile:read'")
        #expect(client.send(.get, "/api/v1/me", token: phone.token).status == 200)
        // Before anything in the body.
        try app.expectUnchanged {
            for body in [Array("{}".utf8), [0xFF]] {
                let answer = client.send(.patch, "/api/v1/me", bytes: body, token: phone.token)
                #expect("\(answer)" == refusal(403, "insufficient_scope"))
                #expect(answer.header("WWW-Authenticate") == #"Bearer error="insufficient_scope""#)
            }
        }
    }

    @Test func anAppBoundPAKEndsItsSessionAndNothingElse() throws {
        try app.change("UPDATE paks SET application_id = ?, scopes = 'profile:write'", try app.makeApplication())
        try app.expectUnchanged {
            for route in Routes.accounts where route.pattern.contains("/me") {
                let path = route.pattern.replacing("{provider}", with: "apple")
                let answer = client.send(route.method, path, token: phone.token)
                #expect("\(answer)" == refusal(403, "insufficient_scope"), "\(path)")
            }
        }
        #expect(client.send(.delete, "/api/v1/auth/session", token: phone.token).status == 204)
        expectInvalid(me("Bearer \(phone.token)"))
    }

    @Test func aDeletedUsersPAKIsInvalid() throws {
        try app.change("UPDATE users SET deleted_at = NOW()")
        expectInvalid(me("Bearer \(phone.token)"))
    }

    @Test func aPAKExpiresWhenTheOperatorSaysSo() throws {
        let app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, pakLifetime: .seconds(86_400)))
        let client = app.client()
        let phone = try client.bootstrap()
        app.time.advance(by: .seconds(86_399))
        #expect(client.send(.get, "/api/v1/me", token: phone.token).status == 200)
        app.time.advance(by: .seconds(1))
        expectInvalid(client.send(.get, "/api/v1/me", token: phone.token))
    }

    @Test func withoutALifetimeAPAKLastsUntilRevoked() {
        app.time.advance(by: .seconds(100 * 365 * 86_400))
        #expect(client.send(.get, "/api/v1/me", token: phone.token).status == 200)
    }

    // MARK: DELETE /api/v1/auth/session

    @Test func endingASessionRevokesThePresentedPAKAlone() throws {
        let other = try client.reopen(phone)
        let answer = client.send(.delete, "/api/v1/auth/session", bytes: [0xFF], token: phone.token)
        #expect("\(answer)" == "204")
        #expect(answer.header("Content-Type") == nil)
        expectInvalid(me("Bearer \(phone.token)"))
        #expect(client.send(.get, "/api/v1/me", token: other).status == 200)
        try app.expectUnchanged {
            expectInvalid(client.send(.delete, "/api/v1/auth/session", token: phone.token))
        }
        _ = try client.reopen(phone)
    }

    // MARK: How many

    @Test func aDeviceKeepsItsFiveNewestPAKs() throws {
        let neighbor = try client.bootstrap(2)
        var tokens = [phone.token]
        for _ in 2...7 { tokens.append(try client.reopen(phone)) }
        let statuses = tokens.map { client.send(.get, "/api/v1/me", token: $0).status }
        #expect(statuses == [401, 401, 200, 200, 200, 200, 200])
        #expect(client.send(.get, "/api/v1/me", token: neighbor.token).status == 200)

        // A revoked one is not counted.
        _ = client.send(.delete, "/api/v1/auth/session", token: tokens[6])
        tokens.append(try client.reopen(phone))
        #expect(client.send(.get, "/api/v1/me", token: tokens[2]).status == 200)
    }
}
