import HTTP
import JSON
import OpenSSL
import TestSupport
import Testing
import Text
import Time

/// An agent with its credentials, as it calls.
struct TestAgent: Sendable {
    let app: TestApp
    let id: String
    let token: String
    /// Nil if it does not sign.
    let key: Ed25519PrivateKey?

    /// A request with its header fields.
    ///
    /// - Parameters:
    ///   - idempotencyKey: nil for none.
    ///   - time: when it is signed; nil for the server's time.
    ///   - nonce: nil for a new one.
    func request(
        _ method: Method, _ target: String, _ body: [UInt8] = [], idempotencyKey: String? = nil,
        at time: Timestamp? = nil,
        nonce: String? = nil
    ) throws -> AgentCall {
        var headers = [(name: "authorization", value: "Bearer \(token)")]
        if let idempotencyKey { headers.append(("idempotency-key", idempotencyKey)) }
        if let key {
            let (time, nonce) = ("\((time ?? app.time.now).seconds)", nonce ?? randomBytes(16).hexadecimal)
            let lines = [method.rawValue, target, time, nonce, sha256(body).hexadecimal, id]
            headers += [
                ("x-agent-timestamp", time), ("x-agent-nonce", nonce),
                ("x-agent-signature", Base64.encode(try key.sign(Array(lines.joined(separator: "\n").utf8)))),
            ]
        }
        return AgentCall(method: method, target: target, body: body, headers: headers)
    }

    /// POST /api/agents/approvals.
    ///
    /// - Parameters:
    ///   - changes: members to replace; nil leaves a member out.
    ///   - idempotencyKey: a new one unless given.
    func asking(
        _ changes: KeyValuePairs<String, JSONValue?> = [:], idempotencyKey: String? = nil
    ) throws -> AgentCall {
        try request(
            .post, "/api/agents/approvals", Self.body(changes).json(),
            idempotencyKey: idempotencyKey ?? randomBytes(8).hexadecimal)
    }

    static func body(_ changes: KeyValuePairs<String, JSONValue?> = [:]) -> JSONValue {
        let usual: KeyValuePairs<String, JSONValue?> = [
            "action_type": "shell.exec", "title": "테스트 실행", "body": "swift test\n--filter x",
            "context": ["b": [1, 2.5, true, .null], "a": "/tmp", "€": "€"],
        ]
        let kept = usual.filter { member in !changes.contains { $0.key == member.key } }
        return .object(
            JSONObject((kept + Array(changes)).compactMap { name, value in value.map { (name, $0) } }))
    }

    func poll(_ id: String) throws -> AgentCall { try request(.get, "/api/agents/approvals/\(id)") }

    func cancel(_ id: String) throws -> AgentCall { try request(.post, "/api/agents/approvals/\(id)/cancel") }
}

/// A request of an agent that can be sent again, from any address.
struct AgentCall: Sendable {
    var method: Method
    var target: String
    var body: [UInt8]
    var headers: [(name: String, value: String)]
    var address = "192.0.2.7"

    mutating func set(_ name: String, _ value: String?) {
        headers.removeAll { $0.name == name }
        if let value { headers.append((name, value)) }
    }
}

/// A request that waits, as its agent knows it.
struct PendingApproval: Sendable {
    let id: String
    let number: String
    let hash: String

    init(_ answer: Answer) throws {
        id = try #require(answer["auth_req_id"]?.string, "\(answer)")
        number = try #require(answer["number_match"]?.string, "\(answer)")
        hash = try #require(answer["display_payload_hash"]?.string, "\(answer)")
    }

    /// Another number.
    var wrongNumber: String { number == "000000" ? "000001" : "000000" }
}

extension Client {
    /// - Parameters:
    ///   - signed: whether it signs its calls.
    ///   - members: what else it is created with.
    func agent(
        of phone: Phone, in app: TestApp, signed: Bool = false, _ members: KeyValuePairs<String, JSONValue?> = [:]
    ) throws -> TestAgent {
        let key = signed ? try Ed25519PrivateKey() : nil
        let usual: JSONValue = [
            "name": "Büro-Agent", "type": "claude", "auth_mode": signed ? "signed" : "bearer_only",
        ]
        let body = usual.adding(["public_key": (key?.publicKey).map { .string(Base64.encode($0)) }]).adding(members)
        let answer = send(.post, "/api/v1/me/agents", body, token: phone.token)
        return TestAgent(
            app: app, id: try #require(answer["id"]?.string, "\(answer)"),
            token: try #require(answer["token"]?.string, "\(answer)"), key: key)
    }

    func send(_ call: AgentCall) -> Answer {
        let parts = call.target.split(separator: "?", maxSplits: 1).map(String.init)
        return send(
            Request(
                method: call.method, path: parts[0], query: parts.count > 1 ? parts[1] : "", target: call.target,
                headers: Headers(call.headers), remoteAddress: call.address, body: BufferedBody(call.body)))
    }

    /// Asks, and is not refused.
    func ask(
        _ agent: TestAgent, _ changes: KeyValuePairs<String, JSONValue?> = [:], idempotencyKey: String? = nil
    ) throws -> PendingApproval {
        try PendingApproval(send(agent.asking(changes, idempotencyKey: idempotencyKey)))
    }

    func decide(
        _ approval: PendingApproval, _ decision: String, as phone: Phone, number: String? = nil, hash: String? = nil
    ) -> Answer {
        let body: JSONValue = ["decision": .string(decision)]
        return send(
            .post, "/api/v1/me/agent_approvals/\(approval.id)/decide",
            body.adding([
                "number_match": number.map(JSONValue.string), "display_payload_hash": hash.map(JSONValue.string),
            ]), token: phone.token)
    }
}
