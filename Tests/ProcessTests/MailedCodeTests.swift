import FoundationEssentials
import JSON
import MariaDB
import TestSupport
import Testing
import Text

/// One-time passwords on their way from a running server to a real mail server (accounts §3.1).
@Suite struct MailedCodeTests {
    private static let pak = "lpk_live_ada"

    /// With two people, one of whom has a PAK.
    private func installation(_ variables: [String: String]) throws -> Installation {
        let installation = try Installation(variables)
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id, anonymous, login_email) VALUES (1, FALSE, 'ada@example.com'), (2, FALSE, 'bea@example.com');
            INSERT INTO paks (user_id, digest, scopes) VALUES
                (1, UNHEX(SHA2('\(Self.pak)', 256)), 'profile:read profile:write');
            """)
        return installation
    }

    private func variables(_ server: SMTPTestServer) -> [String: String] {
        [
            "MERGANSER_OTP_SENDER": "smtp://localhost:\(server.port)", "MERGANSER_MAIL_FROM": "id@mail.example",
            "MERGANSER_SMTP_USER": "merganser", "MERGANSER_SMTP_PASSWORD": "sesame",
            "MERGANSER_SMTP_CA_FILE": server.certificate,
        ]
    }

    private func post(_ path: String, _ body: String, to installation: Installation) throws -> FastCGIClient.Answer {
        try installation.ask("POST", path, headers: [("HTTP_AUTHORIZATION", "Bearer \(Self.pak)")], body: body)
    }

    private func ask(_ installation: Installation) throws {
        let answer = try post("/api/v1/me/merge/otp", #"{"target_email":"bea@example.com"}"#, to: installation)
        #expect(answer.status == 202)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"ok":true,"expires_in":300}"#)
    }

    private func metric(_ outcome: String, of installation: Installation) throws -> Double? {
        let text = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
        return try Exposed(text)["merganser_mails_total", "{outcome=\"\(outcome)\"}"]
    }

    @Test func aCodeArrivesAndMerges() throws {
        let mail = try SMTPTestServer(.starttls, ["--user", "merganser", "--password", "sesame"])
        let installation = try installation(variables(mail))
        let server = try installation.readyServer()
        try ask(installation)
        try mail.wait(forMessages: 1)
        let message = try #require(try mail.messages.first)
        #expect(message["to"] == ["bea@example.com"] && message["from"] == "id@mail.example")
        #expect(message["tls"] == true && message["user"] == "merganser")
        let body = try #require(message["content"]?.string?.components(separatedBy: "\r\n\r\n").last)
        let text = String(decoding: try #require(Base64.decode(body.utf8.filter { $0 > 0x20 })), as: UTF8.self)
        let code = String(try #require(text.firstMatch(of: /\b[0-9]{8}\b/)).output)

        let wrong = code == "00000000" ? "00000001" : "00000000"
        let refused = try post(
            "/api/v1/me/merge", #"{"target_user_id":2,"otp_code":"\#(wrong)"}"#, to: installation)
        #expect(String(decoding: refused.body, as: UTF8.self) == #"{"error":"invalid_otp"}"#)
        let merged = try post("/api/v1/me/merge", #"{"target_user_id":2,"otp_code":"\#(code)"}"#, to: installation)
        #expect(merged.status == 200)
        #expect(try JSONValue(json: merged.body)["merged_via"] == "t3_otp")
        try server.wait(for: "the count") { try metric("sent", of: installation) == 1 }
        for text in [code, "bea@", "sesame"] { #expect(!server.errorOutput.contains(text)) }
    }

    @Test func aRefusalIsLoggedWithoutAddressAndCode() throws {
        let mail = try SMTPTestServer(.starttls, ["--refuse-at", "RCPT"])
        let installation = try installation(
            variables(mail).filter { !$0.key.contains("SMTP_USER") && !$0.key.contains("SMTP_PASSWORD") })
        let server = try installation.readyServer()
        try ask(installation)
        try server.wait(for: "the line") { try server.logged("mail was not sent") }
        let line = try #require(try server.log.first { $0["message"] == "mail was not sent" })
        #expect(line["outcome"] == "failed" && line["level"] == "warning")
        #expect(line["reason"]?.string?.contains("550") == true)
        #expect(!server.errorOutput.contains("bea@") && !server.errorOutput.contains("nobody"))
        try server.wait(for: "the count") { try metric("failed", of: installation) == 1 }
    }

    /// A mail server that says nothing keeps neither an answer nor the end of the instance.
    @Test func silenceHoldsUpNothing() throws {
        let mail = try SMTPTestServer(.none, ["--silent-at", "greeting"])
        let installation = try installation([
            "MERGANSER_OTP_SENDER": "smtp://127.0.0.1:\(mail.port)", "MERGANSER_MAIL_FROM": "id@mail.example",
            "MERGANSER_DRAIN_LIMIT_SECONDS": "1",
        ])
        let server = try installation.readyServer()
        for _ in 0..<3 { try ask(installation) }
        server.terminate()
        #expect(try server.waitForExit() == .status(0))
        let lost = try server.log.filter { $0["message"] == "mail was not sent" }
        #expect(lost.count == 3 && lost.allSatisfy { $0["outcome"] == "dropped" })
    }

    @Test func aServerWithoutASenderSaysSo() throws {
        let installation = try installation(["MERGANSER_OTP_SENDER": ""])
        let server = try installation.readyServer()
        try ask(installation)
        let warnings = try server.log.filter { $0["level"] == "warning" }.compactMap { $0["message"]?.string }
        #expect(warnings == ["MERGANSER_OTP_SENDER is not set: one-time passwords are made, but never sent to anybody"])
    }
}
