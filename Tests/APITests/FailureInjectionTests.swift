import HTTP
import IdentityTokens
import JSON
import Testing

/// If any row cannot be written, a request leaves no trace and can be repeated.
@Suite struct FailureInjectionTests {
    let app: TestApp
    private let numbers = Numbers()

    /// The devices and subjects of one run, numbered.
    private final class Numbers {
        private var last = 0

        func next() -> Int {
            last += 1
            return last
        }
    }

    init() throws { app = try TestApp() }

    private static let record: Set<FailureInjection.Write> = [
        "idempotency_records INSERT", "idempotency_records UPDATE", "login_events INSERT", "audit_log INSERT",
    ]

    private func request(_ path: String, _ body: JSONValue, token: String? = nil) -> RepeatableRequest {
        RepeatableRequest(
            method: .post, path: path, body: body, token: token,
            headers: [("idempotency-key", "0123456789abcdefghijkl-\(numbers.next())")])
    }

    private func session(
        _ proof: JSONValue, _ provider: Provider = .apple, on device: String? = nil, secret: String? = nil
    ) -> RepeatableRequest {
        request(
            "/api/v1/auth/\(provider.rawValue)/session",
            proof.adding([
                "device_uuid": device.map(JSONValue.string), "platform": device == nil ? nil : "ios",
                "device_secret": secret.map(JSONValue.string),
            ]))
    }

    private func link(_ proof: JSONValue, _ provider: Provider = .apple, token: String) -> RepeatableRequest {
        request(
            "/api/v1/me/connected_identities", proof.adding(["provider": .string(provider.rawValue)]), token: token)
    }

    private func run(
        expecting writes: Set<FailureInjection.Write>, status: Int = 200,
        sourceLocation: SourceLocation = #_sourceLocation, _ prepare: @escaping (Client) throws -> RepeatableRequest
    ) throws {
        try FailureInjection(app: app, prepare: prepare)
            .run(expecting: writes, status: status, sourceLocation: sourceLocation)
    }

    // MARK: Bootstrap

    @Test func bootstrapOfANewDevice() throws {
        let writes = Self.record.union(["users INSERT", "devices INSERT", "paks INSERT"])
        try run(expecting: writes) { [self] _ in
            request("/api/v1/devices", ["device_uuid": .string(uuid(numbers.next())), "platform": "ios"])
        }
        try run(expecting: writes) { [self] _ in
            request(
                "/api/v1/auth/anonymous_bootstrap",
                ["device_id": .string(uuid(numbers.next())), "device_platform": "macos"])
        }
    }

    @Test func bootstrapOfAKnownDevice() throws {
        let writes = Self.record.union(["users UPDATE", "devices UPDATE", "paks INSERT", "paks UPDATE"])
        func phone(_ client: Client) throws -> Phone {
            let phone = try client.bootstrap(numbers.next())
            for _ in 1...5 { _ = try client.reopen(phone) }
            // So that the user's activity is due.
            try app.change(
                "UPDATE users SET last_active_at = last_active_at - INTERVAL 1 HOUR WHERE id = ?", phone.userID)
            return phone
        }
        try run(expecting: writes) { [self] client in
            let phone = try phone(client)
            return request(
                "/api/v1/devices",
                ["device_uuid": .string(phone.uuid), "platform": "ios", "device_secret": .string(phone.secret)])
        }
        try run(expecting: writes) { [self] client in
            let phone = try phone(client)
            return request(
                "/api/v1/auth/anonymous_bootstrap",
                ["device_id": .string(phone.uuid), "device_platform": "ios", "device_secret": .string(phone.secret)])
        }
    }

    // MARK: Session

    @Test func sessionOfANewUser() throws {
        let writes = Self.record.union(["users INSERT", "identities INSERT", "paks INSERT"])
        try run(expecting: writes) { [self] _ in
            let number = numbers.next()
            return session(app.proof("\(number)", email: "\(number)@icloud.com"))
        }
        try run(expecting: writes.union(["devices INSERT"])) { [self] _ in
            let number = numbers.next()
            return session(app.proof("\(number)"), on: uuid(number))
        }
    }

    @Test func sessionOfAKnownUser() throws {
        try run(expecting: Self.record.union(["users UPDATE", "devices UPDATE", "paks INSERT"])) { [self] client in
            let number = numbers.next()
            let phone = try client.signIn(app.proof("\(number)"), on: number)
            return session(app.proof("\(number)", email: "\(number)@icloud.com"), on: phone.uuid)
        }
    }

    @Test func sessionThatLinksByEmail() throws {
        try run(expecting: Self.record.union(["users UPDATE", "identities INSERT", "paks INSERT"])) { [self] client in
            let number = numbers.next()
            let email = "\(number)@icloud.com"
            // Google has the last word on it, too, so that the address leads to the account.
            let vouched = app.proof("\(number)", of: .google, email: email, extra: ["hd": "icloud.com"])
            _ = try client.signIn(vouched, with: "google", on: number)
            return session(
                app.proof("\(number)", email: email).adding(["full_name": ["given_name": "Ada"]]))
        }
    }

    @Test func sessionThatPromotes() throws {
        try run(
            expecting: Self.record.union(["users UPDATE", "devices UPDATE", "paks INSERT", "paks UPDATE"])
        ) { [self] client in
            let number = numbers.next()
            let phone = try client.bootstrap(number)
            try app.change(
                "INSERT INTO identities (user_id, provider, sub) VALUES (?, 'apple', ?)", phone.userID, "\(number)")
            return session(app.proof("\(number)"))
        }
    }

    @Test(arguments: [true, false])
    func sessionThatTakesAnothersDevice(anonymous: Bool) throws {
        try run(
            expecting: Self.record.union([
                "users INSERT", "identities INSERT", "devices UPDATE", "paks INSERT", "paks UPDATE",
            ])
        ) { [self] client in
            let number = numbers.next()
            let owner =
                anonymous
                ? try client.bootstrap(number) : try client.signIn(app.proof("owner \(number)"), on: number)
            return session(app.proof("\(number)"), on: owner.uuid, secret: owner.secret)
        }
    }

    // MARK: Identities

    @Test func linkThatPromotes() throws {
        try run(
            expecting: Self.record.union(["users UPDATE", "identities INSERT", "devices UPDATE", "paks UPDATE"])
        ) { [self] client in
            let phone = try client.bootstrap(numbers.next())
            _ = try client.reopen(phone)
            let other = try client.bootstrap(numbers.next())
            try app.change("UPDATE devices SET user_id = ? WHERE id = ?", phone.userID, other.deviceID)
            return link(app.proof("\(phone.userID)", email: "\(phone.userID)@icloud.com"), token: phone.token)
        }
    }

    @Test func linkThatARelyingPartyIsToldOf() throws {
        let scene = try OAuthScene(app)
        let told = Self.record.union([
            "users UPDATE", "identities INSERT", "application_event_counters INSERT",
            "application_event_counters UPDATE", "webhook_outbox INSERT",
        ])
        try run(expecting: told) { [self] client in
            let phone = try client.bootstrap(numbers.next())
            // A relying party of its own, which has had no event.
            _ = try scene.signIn(scene.register(anonymous: true), as: phone)
            return link(app.proof("\(phone.userID)"), token: phone.token)
        }
    }

    @Test func linkOfOneMore() throws {
        try run(expecting: Self.record.union(["users UPDATE", "identities INSERT"])) { [self] client in
            let number = numbers.next()
            let phone = try client.signIn(app.proof("\(number)"), on: number)
            return link(app.proof("\(number)", of: .google, email: "\(number)@gmail.com"), .google, token: phone.token)
        }
    }

    @Test func linkThatIsRefusedWithATicket() throws {
        try run(
            expecting: ["idempotency_records INSERT", "idempotency_records UPDATE", "swap_tickets INSERT"], status: 409
        ) { [self] client in
            let number = numbers.next()
            _ = try client.signIn(app.proof("\(number)"), on: number)
            return link(app.proof("\(number)"), token: try client.bootstrap(numbers.next()).token)
        }
    }

    @Test func unlink() throws {
        try run(expecting: ["users UPDATE", "identities DELETE", "audit_log INSERT"]) { [self] client in
            let number = numbers.next()
            let email = "\(number)@gmail.com"
            let phone = try client.signIn(app.proof("\(number)", of: .google, email: email), with: "google", on: number)
            // Two addresses and two identities go.
            let absorbed = try client.signIn(
                app.proof("absorbed \(number)", of: .google, email: "absorbed." + email), with: "google",
                on: numbers.next())
            try app.absorb(absorbed.userID, into: phone.userID)
            try app.change("UPDATE identities SET user_id = ? WHERE user_id = ?", phone.userID, absorbed.userID)
            try #require(client.send(link(app.proof("\(number)"), token: phone.token)).status == 200)
            return RepeatableRequest(
                method: .delete, path: "/api/v1/me/connected_identities/google", token: phone.token)
        }
    }

    // MARK: The rest

    @Test func patch() throws {
        try run(expecting: ["users UPDATE", "audit_log INSERT"]) { [self] client in
            let phone = try client.bootstrap(numbers.next())
            return RepeatableRequest(method: .patch, path: "/api/v1/me", body: ["name": "Ada"], token: phone.token)
        }
    }

    @Test func endOfASession() throws {
        try run(expecting: ["paks UPDATE", "audit_log INSERT"], status: 204) { [self] client in
            let phone = try client.bootstrap(numbers.next())
            return RepeatableRequest(method: .delete, path: "/api/v1/auth/session", token: phone.token)
        }
    }
}
