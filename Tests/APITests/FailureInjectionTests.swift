import HTTP
import JSON
import Testing

/// Nothing half done: whichever row cannot be written, the request leaves no trace and can be repeated.
@Suite struct FailureInjectionTests {
    let app: TestApp

    init() throws { app = try TestApp() }

    @Test func bootstrap() throws {
        var number = 0
        let injection = FailureInjection(app: app) { _ in
            number += 1
            return RepeatableRequest(
                method: .post, path: "/api/v1/devices",
                body: ["device_uuid": .string(uuid(number)), "platform": "ios"],
                headers: [("idempotency-key", "key-key-key-key-key-key-\(number)")])
        }
        try injection.run(
            expecting: [
                "users INSERT", "devices INSERT", "paks INSERT", "audit_log INSERT", "idempotency_records INSERT",
                "idempotency_records UPDATE",
            ])
    }
}
