import API
import HTTP
import JSON
import TestSupport
import Testing

@testable import Accounts

/// Webhook keys in wrong hands (accounts §3.3, `webhook_key.compromised`).
@Suite struct WebhookKeyTests {
    let scene: OAuthScene
    let app: TestApp
    let developer: Phone
    let clientID: String

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        developer = try scene.developer()
        clientID = try scene.create(by: developer)
    }

    private func keys() throws -> [String] {
        try app.column("SELECT CONCAT(kid, IF(retired_at IS NULL, '', ' retired')) FROM webhook_keys ORDER BY id")
    }

    private func retire(_ kid: String) throws -> WebhookKeyReplacement {
        try app.operate {
            try $0.retireCompromisedKey(kid, of: clientID, serverKey: app.service.accounts.serverKey)
        }
    }

    private func payloads() throws -> [String] {
        try app.column(
            """
            SELECT SUBSTRING_INDEX(CONVERT(raw_payload USING utf8mb4), ',"event_id"', 1) FROM webhook_outbox
            WHERE event_type = 'webhook_key.compromised' ORDER BY seq
            """)
    }

    @Test func theOnlyKeyIsReplacedByANewOne() throws {
        let kid = try keys()[0]
        let replacement = try retire(kid)
        #expect(replacement.newSecret?.hasPrefix("whsec_") == true && replacement.keyID != kid)
        #expect(try keys() == [kid + " retired", replacement.keyID])
        #expect(try payloads() == [#"{"data":{"kid":"\#(kid)","replaced_by":"\#(replacement.keyID)"}"#])
        #expect(
            try app.column("SELECT CONCAT_WS(' ', actor, details) FROM audit_log WHERE action LIKE '%compromised'") == [
                #"operator {"client_id":"\#(clientID)","kid":"\#(kid)","replaced_by":"\#(replacement.keyID)"}"#
            ])
        #expect(try !app.database.dump().contains(try #require(replacement.newSecret)))
    }

    @Test func theNewestOtherKeyTakesItsPlace() throws {
        for _ in 1...2 {
            let answer = scene.client.send(
                .post, "\(OAuthScene.applications)/\(clientID)/webhook_keys", token: developer.token)
            try #require(answer.status == 201)
        }
        let kids = try keys()
        for (retired, next) in [(1, 2), (2, 0)] {
            let replacement = try retire(kids[retired])
            #expect(replacement.keyID == kids[next] && replacement.newSecret == nil)
        }
        #expect(try keys() == [kids[0], kids[1] + " retired", kids[2] + " retired"])
        #expect(try payloads().count == 2)
    }

    @Test func whatIsNoActiveKeyIsRefused() throws {
        let kid = try keys()[0]
        _ = try retire(kid)
        try app.expectUnchanged {
            for kid in [kid, "whk_2026q2_zz", "", kid.uppercased()] {
                #expect(throws: RefusedOperation.self) { try retire(kid) }
            }
        }
    }
}
