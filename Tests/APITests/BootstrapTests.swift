import Accounts
import HTTP
import JSON
import OpenSSL
import TestSupport
import Testing
import Text

/// The two faces of device bootstrap (accounts §1.2, §1.3).
@Suite struct BootstrapTests {
    enum Face: String, CaseIterable {
        case devices = "/api/v1/devices"
        case anonymousBootstrap = "/api/v1/auth/anonymous_bootstrap"

        func body(_ uuid: JSONValue?, _ platform: JSONValue?, secret: String? = nil, name: JSONValue? = nil)
            -> JSONValue
        {
            let names =
                switch self {
                case .devices: ("device_uuid", "platform")
                case .anonymousBootstrap: ("device_id", "device_platform")
                }
            let empty: JSONValue = [:]
            return empty.adding([
                names.0: uuid, names.1: platform, "device_secret": secret.map(JSONValue.string), "device_name": name,
            ])
        }
    }

    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private func send(
        _ face: Face, _ device: String? = uuid(1), _ platform: String? = "ios", secret: String? = nil,
        name: JSONValue? = nil
    ) -> Answer {
        let body = face.body(device.map(JSONValue.string), platform.map(JSONValue.string), secret: secret, name: name)
        return client.send(.post, face.rawValue, body)
    }

    // MARK: The table

    @Test(arguments: Face.allCases)
    func anUnknownDeviceGetsAnAnonymousUser(_ face: Face) throws {
        let answer = send(face)
        #expect(answer.status == 200)
        let (token, secret) = (answer["access_token"]?.string ?? "", answer["device_secret"]?.string ?? "")
        #expect(token.wholeMatch(of: /lpk_live_[A-Za-z0-9_-]{43}/) != nil)
        #expect(secret.wholeMatch(of: /ds_[A-Za-z0-9_-]{43}/) != nil)
        #expect(try app.column("SELECT CONCAT(id, anonymous, previously_anonymous) FROM users") == ["110"])
        #expect(try app.count("SELECT COUNT(*) FROM paks WHERE digest = ?", sha256(token.utf8)) == 1)
        #expect(try app.count("SELECT COUNT(*) FROM devices WHERE secret_digest = ?", sha256(secret.utf8)) == 1)
        let dump = try app.database.dump()
        #expect(!dump.contains(token) && !dump.contains(secret))
    }

    @Test(arguments: Face.allCases)
    func anUnknownDeviceWithASecretIsRefused(_ face: Face) throws {
        try app.expectUnchanged {
            for secret in ["ds_" + String(repeating: "x", count: 43), ""] {
                #expect("\(send(face, secret: secret))" == refusal(401, "invalid_device_secret"))
            }
        }
    }

    @Test(arguments: Face.allCases, [true, false])
    func aKnownDeviceWithItsSecretGetsANewPAK(_ face: Face, anonymous: Bool) throws {
        let phone = try client.bootstrap()
        try app.change("UPDATE users SET anonymous = ?", anonymous)
        let answer = send(face, secret: phone.secret)
        #expect(answer.status == 200)
        #expect(answer["device_secret"] == nil)
        #expect(answer["user"]?["id"]?.integer == phone.userID)
        #expect(answer["user"]?["anonymous"] == .bool(anonymous))
        #expect(answer["access_token"]?.string != phone.token)
        for token in [phone.token, answer["access_token"]?.string] {
            #expect(client.send(.get, "/api/v1/me", token: token).status == 200)
        }
        #expect(try app.count("SELECT COUNT(*) FROM users") == 1)
        #expect(try app.count("SELECT COUNT(*) FROM devices") == 1)
    }

    @Test(arguments: Face.allCases)
    func aKnownDeviceWithoutItsSecretIsRefused(_ face: Face) throws {
        let phone = try client.bootstrap()
        let other = try client.bootstrap(2)
        let wrong = [nil, "", "ds_", other.secret, phone.token, phone.secret.lowercased(), phone.secret + "x"]
        for anonymous in [true, false] {
            try app.change("UPDATE users SET anonymous = ?", anonymous)
            try app.expectOnlyRefusals(wrong.count, of: phone.userID) {
                for secret in wrong {
                    #expect(
                        "\(send(face, secret: secret))" == refusal(401, "invalid_device_secret"), "\(secret ?? "-")")
                }
            }
        }
        // Voided.
        try app.change("UPDATE devices SET secret_digest = NULL")
        try app.expectOnlyRefusals(3, of: phone.userID) {
            for secret in [nil, "", phone.secret] {
                #expect("\(send(face, secret: secret))" == refusal(401, "invalid_device_secret"), "\(secret ?? "-")")
            }
        }
    }

    @Test(arguments: Face.allCases)
    func theOwnersDeletionClosesTheDevice(_ face: Face) throws {
        let phone = try client.bootstrap()
        try app.change("UPDATE users SET deleted_at = NOW()")
        try app.expectOnlyRefusals(1, of: phone.userID) {
            #expect("\(send(face, secret: phone.secret))" == refusal(401, "invalid_device_secret"))
        }
    }

    // MARK: Members

    @Test(arguments: Face.allCases)
    func aDeviceUUIDIsUUIDText(_ face: Face) throws {
        let uuids = [
            "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "3F2504E0-4F89-11D3-9A0C-0305E82C3302",
            "00000000-0000-0000-0000-000000000000", "ffffffff-FFFF-ffff-FFFF-ffffffffffff",
        ]
        for uuid in uuids { #expect(send(face, uuid).status == 200, "\(uuid)") }

        let others = [
            nil, "", "3f2504e04f8911d39a0c0305e82c3303", "{3f2504e0-4f89-11d3-9a0c-0305e82c3303}",
            "3f2504e0-4f89-11d3-9a0c-0305e82c330", "3f2504e0-4f89-11d3-9a0c-0305e82c33033",
            "3f2504e0-4f89-11d3-9a0c-0305e82c330g", "3f2504e04-f89-11d3-9a0c-0305e82c3303",
            " 3f2504e0-4f89-11d3-9a0c-0305e82c3303", "3f2504e0-4f89-11d3-9a0c-0305e82c3303\n",
            "３f2504e0-4f89-11d3-9a0c-0305e82c3303", "urn:uuid:3f2504e0-4f89-11d3-9a0c-0305e82c3303",
        ]
        try app.expectUnchanged {
            for uuid in others {
                #expect("\(send(face, uuid))" == refusal(400, "invalid_request"), "\(uuid ?? "-")")
            }
            // The device first, then its platform.
            #expect("\(send(face, "x", "windows"))" == refusal(400, "invalid_request"))
        }
    }

    /// RFC 9562's versions do not matter. The first request registers the UUID, and the second one finds it, written in
    /// the other case.
    @Test func aDeviceUUIDHasAnyVersionAndVariant() throws {
        for digits in 0..<256 {
            let uuid =
                "3f2504e0-4f89-\(String(digits / 16, radix: 16))1d3-\(String(digits % 16, radix: 16))a0c-0305e82c3301"
            let phone = try Phone(send(.devices, uuid))
            let again = send(.devices, uuid.uppercased(), secret: phone.secret)
            #expect(again["device"]?["id"]?.integer == phone.deviceID, "\(uuid)")
        }
    }

    @Test(arguments: Face.allCases)
    func thePlatformIsOneOfAFew(_ face: Face) throws {
        let known = face == .devices ? ["ios", "android", "macos", "web"] : ["ios", "macos"]
        for (number, platform) in known.enumerated() {
            #expect(send(face, uuid(number), platform).status == 200, "\(platform)")
        }
        #expect(try app.column("SELECT platform FROM devices ORDER BY id") == known)
        let others = ["iOS", "", "windows", "ios ", "tvos", nil] + (face == .devices ? [] : ["android", "web"])
        try app.expectUnchanged {
            for platform in others {
                let answer = send(face, uuid(99), platform)
                #expect("\(answer)" == refusal(422, "unknown_platform"), "\(platform ?? "-")")
            }
        }
    }

    @Test(arguments: Face.allCases)
    func theDevicesNameLabelsThePAK(_ face: Face) throws {
        let long = String(repeating: "나👩‍👩‍👧‍👦", count: 50)
        for (number, name) in [nil, "", "내 아이폰", long].enumerated() {
            #expect(send(face, uuid(number), name: name.map(JSONValue.string)).status == 200)
        }
        let labels = try app.column("SELECT label FROM paks ORDER BY id")
        #expect(labels == ["ios", "", "내 아이폰", long.prefix(scalars: 100)])
    }

    // MARK: The reply

    @Test func needsOnboardingMeansABlankContactAddress() throws {
        let phone = try client.bootstrap()
        let addresses: [(String?, Bool)] = [
            (nil, true), ("", true), (" ", true), ("a@example.com", false), ("imported@device.internal", true),
        ]
        for (address, needsOnboarding) in addresses {
            try app.change("UPDATE users SET contact_email = ?", address)
            let answer = send(.devices, secret: phone.secret)
            #expect(answer["needs_onboarding"] == .bool(needsOnboarding), "\(address ?? "-")")
        }
    }

    @Test func attestationIsTheVerifiersToSet() throws {
        let phone = try client.bootstrap()
        #expect(send(.devices, secret: phone.secret)["device"]?["attestation_verified"] == false)
        try app.change("UPDATE devices SET attestation_verified = TRUE")
        #expect(send(.devices, secret: phone.secret)["device"]?["attestation_verified"] == true)
    }

    @Test(arguments: Face.allCases)
    func anApplicationsDeviceGetsAnAppBoundPAK(_ face: Face) throws {
        let phone = try client.bootstrap()
        try app.change("UPDATE devices SET application_id = ?", try app.makeApplication())
        let answer = send(face, secret: phone.secret)
        if face == .devices { #expect(answer["scopes"] == ["profile:write"]) }
        let me = client.send(.get, "/api/v1/me", token: answer["access_token"]?.string)
        #expect("\(me)" == refusal(403, "insufficient_scope"))
    }

    @Test func expiresInIsThePAKsLifetime() throws {
        let app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, pakLifetime: .seconds(30 * 86_400)))
        let body = Face.anonymousBootstrap.body(.string(uuid(1)), "macos")
        #expect(app.client().send(.post, Face.anonymousBootstrap.rawValue, body)["expires_in"] == 2_592_000)
    }

    @Test func theNicknameIsTold() throws {
        let phone = try client.bootstrap()
        try app.change("UPDATE users SET nickname = 'Nick'")
        #expect(send(.anonymousBootstrap, secret: phone.secret)["user"]?["nickname"] == "Nick")
    }

    @Test func idsAreNeverReused() throws {
        let phone = try client.bootstrap()
        try app.change("DELETE FROM users")
        let next = try client.bootstrap(1)
        #expect(next.userID > phone.userID && next.deviceID > phone.deviceID)
    }
}
