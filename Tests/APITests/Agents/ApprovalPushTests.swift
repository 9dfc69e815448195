import HTTP
import JSON
import TestSupport
import Testing

@testable import Pages

/// A new request of an agent reaches its user's phones (accounts §4.1).
@Suite struct ApprovalPushTests {
    let app: TestApp
    let client: Client
    let phone: Phone
    let agent: TestAgent

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.bootstrap()
        agent = try client.agent(of: phone, in: app)
        let token: JSONValue = ["token": .string(String(repeating: "0a", count: 32)), "environment": "production"]
        #expect(client.send(.put, "/api/v1/me/push_token", token, token: phone.token).status == 204)
    }

    @Test func thePhoneIsNotified() throws {
        let approval = try client.ask(agent, ["title": "Delete the archive"])
        let sent = try app.notifications()
        #expect(sent.count == 1)
        let payload = try #require(sent.first?["payload"])
        #expect(payload["kind"] == "agent_approval" && payload["id"] == .string(approval.id))
        #expect(payload["universal_link"] == .string("https://id.example/push/\(approval.id)"))
        #expect(payload["aps"]?["alert"]?["title"] == .string(EnglishTexts().agentPushTitle))
        #expect(sent.first?["expires_at"] == "2026-05-12T07:05:00Z")
        // Apple, and whoever sees the locked screen, learn neither the number nor what is asked.
        let text = String(decoding: payload.json(), as: UTF8.self).replacing(approval.id, with: "")
        #expect(!text.contains(approval.number) && !text.contains("archive"))
    }

    @Test func whatWasAskedBeforeIsNotToldAgain() throws {
        for _ in 1...2 { #expect(client.send(try agent.asking(idempotencyKey: "key")).status < 300) }
        // The same under another key.
        #expect(client.send(try agent.asking()).status == 200)
        #expect(try app.notifications().count == 1)
    }

    @Test func aRefusedRequestIsNotTold() throws {
        #expect(client.send(try agent.asking(["title": ""])).status == 422)
        #expect(client.send(try agent.asking(idempotencyKey: "")).status >= 400)
        #expect(try app.notifications().isEmpty)
    }

    @Test func withoutASenderItIsAskedAllTheSame() throws {
        let app = try TestApp(notifiesPhones: false)
        let client = app.client()
        let agent = try client.agent(of: client.bootstrap(), in: app)
        #expect(client.send(try agent.asking()).status == 201)
    }
}
