import Foundation
import JSON
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAuth

/// What the server's own app lets its user approve: requests of agents, sign-ins in a browser. Each test has a server of its own.
@Suite(.serialized) struct ApprovalTests {
    private let deployment: Deployment
    private let session: AccountSession

    init() async throws {
        deployment = try Deployment()
        session = try await deployment.app(subject: "person").account
    }

    /// The refusal that a call throws, as its error code.
    private func code(_ call: () async throws -> Void) async -> String? {
        do {
            try await call()
        } catch MerganserError.server(_, let code, _) {
            return code
        } catch {
            return "\(error)"
        }
        return nil
    }

    // MARK: Agents

    private struct NewAgent: Encodable {
        var name = "Builder"
        var type = "claude"
        var authMode = "bearer_only"
    }

    private struct AgentToken: Decodable {
        let token: String
    }

    private func agent() async throws -> String {
        try await session.ask(Call("POST", "/api/v1/me/agents").json(NewAgent())).decoded(AgentToken.self).token
    }

    /// An agent's request; its id and the number that it shows.
    private func request(of agent: String, title: String = "Run the tests") throws -> (id: String, number: String) {
        let body = """
            {"action_type":"shell.exec","title":"\(title)","body":"swift test","context":
             {"folder_name":"/work","counts":[1,2.5,true,null],"an_object":{"inner_name":"x"}}}
            """
        let headers = [("Authorization", "Bearer \(agent)"), ("Idempotency-Key", UUID().uuidString)]
        let answer = try deployment.connect().ask(
            "POST", "/api/agents/approvals", headers: headers, body: Array(body.utf8))
        let reply = try JSON.JSONValue(json: answer.body)
        return (try #require(reply["auth_req_id"]?.string), try #require(reply["number_match"]?.string))
    }

    @Test func agentsAreApproved() async throws {
        let agent = try await agent()
        let (id, number) = try request(of: agent)
        let listed = try await session.approvals(.pending)
        let approval = try #require(listed.agentApprovals.first)
        #expect(approval.id == id && listed.agentApprovals.count == 1 && listed.nextCursor == nil)
        #expect(approval.title == "Run the tests" && approval.agentName == "Builder" && approval.agentType == "claude")
        // Names in it are the agent's own.
        let context: [String: ContextValue] = [
            "folder_name": .string("/work"), "counts": .array([.integer(1), .number(2.5), .bool(true), .null]),
            "an_object": .object(["inner_name": .string("x")]),
        ]
        #expect(approval.context == context)
        #expect(try await session.approval(id) == approval)

        let wrong = number == "000000" ? "000001" : "000000"
        #expect(await code { try await session.approve(approval, numberMatch: wrong) } == "number_mismatch")
        #expect(try await session.approve(approval, numberMatch: number).status == .approved)
        #expect(await code { try await session.reject(approval) } == "already_decided")
        #expect(try await session.approvals(.pending).agentApprovals.isEmpty)
        #expect(try await session.approvals(.approved).agentApprovals.map(\.id) == [id])
    }

    @Test func agentsAreRejected() async throws {
        let agent = try await agent()
        let first = try request(of: agent, title: "First").id
        let second = try request(of: agent, title: "Second").id
        let page = try await session.approvals(limit: 1)
        #expect(page.agentApprovals.map(\.id) == [second])
        #expect(try await session.approvals(before: page.nextCursor, limit: 1).agentApprovals.map(\.id) == [first])
        let rejected = try await session.reject(try await session.approval(first))
        #expect(rejected.status == .rejected && rejected.decidedAt != nil)
        #expect(await code { _ = try await session.approval("aar_unknown") } == "approval_not_found")
    }

    /// A decision is about what the user saw.
    @Test func whatWasNotShownIsNotApproved() async throws {
        let (id, number) = try request(of: try await agent())
        let approval = try await session.approval(id)
        try deployment.run("UPDATE agent_approvals SET title = 'Remove everything'")
        #expect(await code { try await session.approve(approval, numberMatch: number) } == "payload_changed")
    }

    /// One whose context the server cannot open hides nothing else.
    @Test func aLostContextIsNone() async throws {
        let agent = try await agent()
        let (id, number) = try request(of: agent, title: "First")
        try deployment.run("UPDATE agent_approvals SET sealed_request = 'not sealed'")
        let second = try request(of: agent, title: "Second").id
        let listed = try await session.approvals().agentApprovals
        #expect(listed.map(\.id) == [second, id] && listed.first?.context != nil && listed.last?.context == nil)
        let approval = try #require(listed.last)
        #expect(await code { try await session.approve(approval, numberMatch: number) } == "payload_changed")
    }

    // MARK: Sign-ins in a browser

    private func browser() throws -> WebBrowser {
        let browser = WebBrowser(deployment)
        try browser.open(
            "/oauth/authorize?response_type=code&client_id=\(deployment.clientID)"
                + "&redirect_uri=\(Deployment.redirectURI.percentEncoded)&scope=openid&state=s"
                + "&code_challenge_method=S256&code_challenge=\(String(repeating: "a", count: 43))")
        return browser
    }

    private func number(in browser: WebBrowser) throws -> String {
        try browser.open(browser.path)
        return String(try #require(browser.page.firstMatch(of: /<p class="code">([0-9]{2})<\/p>/), "\(browser.page)").1)
    }

    @Test func aBrowserIsSignedInByItsCode() async throws {
        let browser = try browser()
        try browser.submit("/oauth/qr/start")
        let id = try #require(browser.path.firstMatch(of: /[?&]id=([^&]*)/)).1
        let code = try deployment.url.appending(path: "oauth/qr/\(id)")

        let shown = try await session.preview(code: code)
        #expect(shown.application == "Notes" && shown.status == .pending)
        #expect(try await session.scan(code) == shown)
        let other = try await deployment.app(subject: "other").account
        #expect(await self.code { _ = try await other.scan(code) } == "not_found")
        let elsewhere = try Deployment.url("https://elsewhere.example/oauth/qr/\(id)")
        #expect(await self.code { _ = try await session.scan(elsewhere) } == "not_found")

        try await session.approve(shown, numberMatch: number(in: browser))
        try browser.open(browser.path)
        #expect(browser.path.hasPrefix("/oauth/consent?"), "\(browser.path)")
    }

    @Test func aBrowserIsSignedInByAnAddress() async throws {
        let person = try deployment.accountSession()
        try await person.signIn(with: deployment.credential("mina", email: "mina@gmail.com"))
        try await person.registerPushToken(Data((0..<32).map { $0 * 8 }), .sandbox)
        #expect(try deployment.count("SELECT COUNT(*) FROM push_tokens WHERE token LIKE '00081018%f0f8'") == 1)

        for isAllowed in [true, false] {
            let browser = try browser()
            try browser.submit("/oauth/push/start", [("email", "mina@gmail.com")])
            let approval = try #require(try await person.pushApprovals().first)
            #expect(approval.status == .pending)
            if isAllowed {
                try await person.approve(approval, numberMatch: number(in: browser))
            } else {
                try await person.deny(approval)
            }
            try browser.open(browser.path)
            #expect(browser.path.hasPrefix("/oauth/consent?") == isAllowed, "\(browser.path)")
            #expect(try await person.pushApprovals().first?.status == (isAllowed ? .approved : .denied))
            #expect(await code { try await person.deny(approval) } == "already_decided")
        }
    }
}
