import HTTP
import JSON
import TestSupport
import Testing

/// The effects of a sign-in on the device that it names (accounts §1.6).
@Suite struct SessionDeviceTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private func signIn(_ subject: String, on uuid: String, secret: String? = nil) -> Answer {
        client.send(
            .post, "/auth/apple/session",
            app.proof(subject).adding([
                "device_uuid": .string(uuid), "platform": "web", "device_secret": secret.map(JSONValue.string),
            ]))
    }

    private func isLive(_ token: String?) -> Bool { client.send(.get, "/api/v1/me", token: token).status == 200 }

    @Test func withoutADeviceThereIsNone() throws {
        let answer = client.send(.post, "/auth/apple/session", app.proof().adding(["device_secret": "ds_x"]))
        #expect(answer.status == 200)
        #expect(answer["device"] == .null && answer["device_secret"] == nil)
        #expect(try app.column("SELECT device_id FROM paks") == ["NULL"])
        #expect(isLive(answer["access_token"]?.string))
    }

    @Test func anUnknownDeviceIsCreated() throws {
        // Whatever secret it brings: the identity token proves more.
        let phone = try Phone(signIn("ada", on: uuid(1), secret: "ds_lost"))
        #expect(phone.uuid == uuid(1))
        #expect(try app.column("SELECT CONCAT(user_id, platform) FROM devices") == ["\(phone.userID)web"])
        _ = try client.reopen(phone)
    }

    @Test func theUsersOwnDeviceGetsANewSecret() throws {
        let first = try client.signIn(app.proof("ada"), on: 1)
        app.time.advance(by: .seconds(60))
        for presented in [nil, "ds_wrong", first.secret] {
            let answer = signIn("ada", on: first.uuid.lowercased(), secret: presented)
            let phone = try Phone(answer)
            #expect(phone.userID == first.userID && phone.deviceID == first.deviceID && phone.uuid == first.uuid)
            #expect(phone.secret != first.secret)
            #expect(answer["device"]?["platform"] == "ios")
            #expect(answer["device"]?["first_seen_at"] == "2026-05-12T07:00:00Z")
            #expect(answer["device"]?["last_seen_at"] == "2026-05-12T07:01:00Z")
            _ = try client.reopen(phone)
        }
        let stale = client.send(
            .post, "/api/v1/devices",
            ["device_uuid": .string(first.uuid), "platform": "ios", "device_secret": .string(first.secret)])
        #expect("\(stale)" == refusal(401, "invalid_device_secret"))
    }

    @Test func aVoidedSecretIsMadeGood() throws {
        let first = try client.signIn(app.proof("ada"), on: 1)
        try app.change("UPDATE devices SET secret_digest = NULL")
        _ = try client.reopen(try Phone(signIn("ada", on: first.uuid)))
    }

    @Test func anAnonymousHolderKeepsTheDeviceUnderANewSecret() throws {
        let phone = try client.bootstrap()
        try app.change("INSERT INTO identities (user_id, provider, sub) VALUES (?, 'apple', 'ada')", phone.userID)
        let promoted = try Phone(signIn("ada", on: phone.uuid))
        #expect(promoted.userID == phone.userID && promoted.deviceID == phone.deviceID)
        #expect(!isLive(phone.token) && isLive(promoted.token))
        #expect(isLive(try client.reopen(promoted)))
    }

    @Test func rotationClearsTheDevicesApplication() throws {
        let first = try client.signIn(app.proof("ada"), on: 1)
        try app.change(
            "UPDATE devices SET application_id = ?, attestation_verified = TRUE", try app.makeApplication())
        let answer = signIn("ada", on: first.uuid)
        #expect(answer["scopes"]?.array?.count == 6)
        #expect(answer["device"]?["attestation_verified"] == true)
        #expect(try app.column("SELECT application_id FROM devices") == ["NULL"])
        #expect(isLive(try client.reopen(try Phone(answer))))
    }

    @Test(arguments: [true, false])
    func anothersDeviceIsNotTakenWithoutItsSecret(anonymous: Bool) throws {
        let owner = try client.bootstrap()
        try app.change("UPDATE users SET anonymous = ?", anonymous)
        let other = try client.bootstrap(2)
        try app.expectUnchanged {
            // Neither by a user that exists nor by one that would be created.
            for secret in [nil, "", "ds_wrong", other.secret, owner.token] {
                let answer = signIn("ada", on: owner.uuid.lowercased(), secret: secret)
                #expect("\(answer)" == refusal(409, "device_claimed_by_other_user"), "\(secret ?? "-")")
            }
        }
        _ = try client.reopen(owner)
        try app.change("UPDATE devices SET secret_digest = NULL WHERE id = ?", owner.deviceID)
        try app.expectUnchanged {
            let answer = signIn("ada", on: owner.uuid, secret: owner.secret)
            #expect("\(answer)" == refusal(409, "device_claimed_by_other_user"))
        }
    }

    @Test func anIdentifiedOwnerLosesTheDeviceAndItsPAKs() throws {
        let owner = try client.signIn(app.proof("owner"), on: 1)
        let elsewhere = try client.signIn(app.proof("owner"), on: 2)
        try app.change("UPDATE devices SET application_id = ?, attestation_verified = TRUE", try app.makeApplication())
        let answer = signIn("ada", on: owner.uuid, secret: owner.secret)
        let phone = try Phone(answer)
        #expect(phone.deviceID == owner.deviceID && phone.userID != owner.userID && phone.secret != owner.secret)
        #expect(answer["device"]?["attestation_verified"] == true)
        #expect(!isLive(owner.token))
        #expect(isLive(elsewhere.token) && isLive(phone.token))
        #expect(isLive(try client.reopen(phone)))
        #expect(try app.column("SELECT CONCAT(user_id) FROM devices ORDER BY id").first == "\(phone.userID)")
    }

    @Test func anAnonymousOwnersPAKsStayWithoutADevice() throws {
        let owner = try client.bootstrap()
        let second = try client.reopen(owner)
        let phone = try Phone(signIn("ada", on: owner.uuid, secret: owner.secret))
        #expect(phone.userID != owner.userID)
        for token in [owner.token, second] { #expect(isLive(token)) }
        #expect(try app.column("SELECT device_id FROM paks WHERE user_id = ?", owner.userID) == ["NULL", "NULL"])
        // So that it can still be linked.
        let link = client.send(
            .post, "/api/v1/me/connected_identities", app.proof("own").adding(["provider": "apple"]),
            token: owner.token)
        #expect(link["user"]?["id"]?.integer == owner.userID)
        #expect(link["user"]?["anonymous"] == false)
        #expect(!isLive(second) && isLive(owner.token) && isLive(phone.token))
    }

    @Test func aDeviceKeepsItsFiveNewestPAKs() throws {
        let tokens = try (1...7).map { _ in try client.signIn(app.proof("ada"), on: 1).token }
        #expect(tokens.map(isLive) == [false, false, true, true, true, true, true])
    }
}
