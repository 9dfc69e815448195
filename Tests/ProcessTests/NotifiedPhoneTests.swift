import FoundationEssentials
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing

/// Notifications on their way from a running server behind nginx to a push service like Apple's (accounts §4.2).
@Suite struct NotifiedPhoneTests {
    private let pak = "lpk_live_ada"
    private let token = String(repeating: "0a1b", count: 16)

    @Test func aSignInReachesThePhone() throws {
        let (front, apns) = (try Front(), try APNsTestServer())
        let installation = try Installation([
            "MERGANSER_ISSUER": front.url, "MERGANSER_SOCKET": front.run.file("merganser.sock"),
            "MERGANSER_PUSH_SENDER": "apns", "MERGANSER_APNS_TEAM_ID": APNsTestServer.teamID,
            "MERGANSER_APNS_KEY_ID": APNsTestServer.keyID, "MERGANSER_APNS_PRIVATE_KEY": apns.privateKey.pem,
            "MERGANSER_APNS_TOPIC": APNsTestServer.topic, "MERGANSER_APNS_ENVIRONMENT": "sandbox",
            "MERGANSER_APNS_URL": apns.url, "MERGANSER_APNS_CA_FILE": apns.certificate,
        ])
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id, anonymous, login_email) VALUES (1, FALSE, 'ada@example.com');
            INSERT INTO devices (id, user_id, device_uuid, platform) VALUES (1, 1, UUID(), 'ios');
            INSERT INTO paks (user_id, device_id, digest, scopes) VALUES
                (1, 1, UNHEX(SHA2('\(pak)', 256)), 'profile:read profile:write');
            """)
        let server = try installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let connection = try front.connect()
        let registration: JSONValue = ["token": .string(token), "environment": "sandbox"]
        let registered = try connection.ask(
            "PUT", "/api/v1/me/push_token",
            headers: [("Authorization", "Bearer \(pak)"), ("Content-Type", "application/json")],
            body: registration.json())
        #expect(registered.status == 204)

        let id = try start("ada@example.com", by: connection)
        #expect(apns.wait(forNotifications: 1))
        let notification = try #require(apns.notifications.first)
        #expect(apns.faults == [] && notification.token == token)
        #expect(notification.payload["kind"] == "sso_approval" && notification.payload["id"] == .string(id))
        #expect(notification.payload["universal_link"] == .string("\(front.url)/push/\(id)"))
        try server.wait(for: "the count") {
            let text = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
            return try Exposed(text)["merganser_notifications_total", "{outcome=\"sent\"}"] == 1
        }
        #expect(!server.errorOutput.contains(token))
    }

    /// A browser goes to the login page, where somebody types an address.
    ///
    /// - Returns: the id of the sign-in that waits for approval.
    private func start(_ address: String, by connection: HTTPConnection) throws -> String {
        let sentOn = try connection.ask("GET", "/account", headers: [("Accept", "text/html")])
        let login = try #require(sentOn.header("location"), "\(sentOn)")
        let cookie = String(try #require(sentOn.header("set-cookie")?.split(separator: ";").first))
        let page = try connection.ask("GET", login, headers: [("Cookie", cookie), ("Accept", "text/html")])
        let html = String(decoding: page.body, as: UTF8.self)
        let form = try #require(
            html.firstMatch(of: /<form method="post" action="\/oauth\/push\/start">(.*?)<\/form>/.dotMatchesNewlines()),
            "\(html)")
        let hidden = form.1.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/).map {
            "\($0.1)=\($0.2)"
        }
        let fields = (hidden + ["email=\(address)"]).joined(separator: "&")
        let started = try connection.ask(
            "POST", "/oauth/push/start",
            headers: [("Cookie", cookie), ("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(fields.utf8))
        #expect(started.status == 303)
        let location = try #require(started.header("location"), "\(started)")
        return String(try #require(location.firstMatch(of: /[?&]id=([^&]+)/)).1)
    }
}
