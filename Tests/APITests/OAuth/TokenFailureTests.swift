import HTTP
import JSON
import Testing

/// If any row of a decision or an exchange cannot be written, nothing of it is kept.
@Suite struct TokenFailureTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register()
    }

    @Test func aDecisionIsWholeOrNothing() throws {
        try FailureInjection(app: scene.app) { _ in
            let device = try scene.device(rp)
            let person = try scene.person("person \(scene.next())")
            return scene.decisionRequest("approve", .string(device.userCode), as: person)
        }.run(expecting: ["rate_limits INSERT", "grants INSERT", "device_codes UPDATE", "audit_log INSERT"])
    }

    @Test func anExchangeIsWholeOrNothing() throws {
        try FailureInjection(app: scene.app, witness: "/oauth/userinfo") { _ in
            let number = scene.next()
            let token = try scene.signIn(rp, as: try scene.person("person \(number)")).access
            return RepeatableRequest(
                method: .post, path: "/api/v1/me/device_keys/exchange",
                body: ["device_uuid": .string(uuid(number)), "platform": "ios"], token: token,
                headers: [("idempotency-key", "key")])
        }.run(
            expecting: [
                "idempotency_records INSERT", "idempotency_records UPDATE", "rate_limits INSERT", "devices INSERT",
                "paks INSERT", "login_events INSERT", "audit_log INSERT",
            ])
    }
}
