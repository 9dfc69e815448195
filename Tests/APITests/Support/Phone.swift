import Analytics
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

/// An account on a phone: what the phone keeps of a DeviceBootstrapResponse.
struct Phone: Sendable {
    var userID: Int
    var token: String
    var uuid: String
    var deviceID: Int
    var secret: String

    /// - Parameters:
    ///   - answer: of a request that named the device and made its secret.
    init(_ answer: Answer) throws {
        userID = try #require(answer["user"]?["id"]?.integer, "\(answer)")
        token = try #require(answer["access_token"]?.string, "\(answer)")
        uuid = try #require(answer["device"]?["device_uuid"]?.string, "\(answer)")
        deviceID = try #require(answer["device"]?["id"]?.integer, "\(answer)")
        secret = try #require(answer["device_secret"]?.string, "\(answer)")
    }
}

extension JSONValue {
    var integer: Int? {
        guard case .integer(let value) = self else { return nil }
        return Int(value)
    }

    /// The object with members added; nil adds none.
    func adding(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        guard case .object(let object) = self else { return self }
        return .object(
            JSONObject(
                object.members.map { ($0.name, $0.value) }
                    + members.compactMap { name, value in value.map { (name, $0) } }))
    }
}

/// A UUID like no other test's request in the same schema, by its number.
func uuid(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "3F2504E0-4F89-11D3-9A0C-" + String(repeating: "0", count: 12 - digits.count) + digits
}

extension Client {
    /// A new phone with an anonymous account of its own.
    func bootstrap(_ number: Int = 1) throws -> Phone {
        try Phone(send(.post, "/api/v1/devices", ["device_uuid": .string(uuid(number)), "platform": "ios"]))
    }

    /// A phone starts again.
    ///
    /// - Returns: its new PAK.
    func reopen(_ phone: Phone) throws -> String {
        let answer = send(
            .post, "/api/v1/devices",
            ["device_uuid": .string(phone.uuid), "platform": "ios", "device_secret": .string(phone.secret)])
        return try #require(answer["access_token"]?.string, "\(answer)")
    }

    /// A phone that signs in with an identity.
    ///
    /// - Parameter proof: see `TestApp.proof`.
    func signIn(_ proof: JSONValue, with provider: String = "apple", on number: Int) throws -> Phone {
        try Phone(
            send(
                .post, "/api/v1/auth/\(provider)/session",
                proof.adding(["device_uuid": .string(uuid(number)), "platform": "ios"])))
    }
}

extension TestApp {
    /// The members `identity_token` and `raw_nonce`.
    ///
    /// - Parameters:
    ///   - subject: the test's own (see `own`), as is the address.
    func proof(
        _ subject: String = "subject", of provider: Provider = .apple, email: String? = nil,
        emailVerified: JSONValue? = true, extra: [String: JSONValue] = [:]
    ) -> JSONValue {
        let token = issuer(provider).token(
            subject: own(subject), email: email.map(own), emailVerified: email == nil ? nil : emailVerified,
            extra: extra)
        return ["identity_token": .string(token), "raw_nonce": "nonce"]
    }

    /// - Returns: a new application's id.
    func makeApplication(_ clientID: String = "logi_0", name: String = "Shop") throws -> Int {
        let db = try database.connect()
        return try db.execute(
            "INSERT INTO applications (client_id, name, client_type) VALUES (?, ?, 'public')", clientID, name
        ).lastInsertID
    }

    /// Merges a user into another as far as look-ups care: what they still have stays where it is.
    func absorb(_ user: Int, into survivor: Int) throws {
        try change(
            """
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key)
            VALUES (?, ?, 't1_device_link', ?)
            """, survivor, user, "t1:\(user)")
    }

    /// A row as imports may have left it, or as an operator changed it.
    func change(_ sql: StaticString, _ arguments: any Bindable...) throws {
        try database.connect().write(sql, arguments: arguments)
    }

    /// The first column of a query as text, NULL as "NULL".
    func column(_ sql: StaticString, _ arguments: any Bindable...) throws -> [String] {
        try database.connect().all(sql, arguments: arguments) { row in try row.read(String?.self) ?? "NULL" }
    }

    /// Ids, as the column has them.
    func ids(_ sql: StaticString, _ arguments: any Bindable...) throws -> [UUID] {
        try database.connect().all(sql, arguments: arguments) { row in try row.read() }
    }

    /// Has the requests change nothing, but for some tables.
    func expectUnchanged(
        butFor tables: [String] = [], sourceLocation: SourceLocation = #_sourceLocation, _ requests: () throws -> Void
    ) throws {
        func rows() throws -> [Substring] {
            try database.dump().split(separator: "\n").filter { row in !tables.contains { row.hasPrefix("\($0): ") } }
        }
        let before = try rows()
        try requests()
        #expect(try rows() == before, sourceLocation: sourceLocation)
    }

    /// Has the requests change nothing but a user's login history, to which they add refusals (accounts §4.3).
    func expectOnlyRefusals(
        _ count: Int, of user: Int, sourceLocation: SourceLocation = #_sourceLocation, _ requests: () throws -> Void
    ) throws {
        let last = try self.count("SELECT COALESCE(MAX(id), 0) FROM login_events")
        try expectUnchanged(butFor: ["login_events", "rate_limits"], sourceLocation: sourceLocation, requests)
        let noted = try column("SELECT CONCAT_WS(' ', user_id, event) FROM login_events WHERE id > ?", last)
        #expect(noted == Array(repeating: "\(user) refused", count: count), sourceLocation: sourceLocation)
    }
}
