import Mail
import Testing

@testable import Configuration

/// How mail is sent.
@Suite struct MailTests {
    private static let development = [
        "MERGANSER_ENVIRONMENT": "development", "MERGANSER_ISSUER": "http://127.0.0.1:8080",
    ]

    private func settings(_ sender: String, _ variables: [String: String] = [:]) throws -> MailSettings {
        let all = variables.merging(["MERGANSER_OTP_SENDER": sender]) { $1 }
        return try #require(try Configuration.load(environment: good.setting(all)).mail)
    }

    private func server(_ sender: String, _ variables: [String: String] = [:]) throws -> SMTPServer {
        let settings = try settings(sender, variables.merging(["MERGANSER_MAIL_FROM": "id@example.com"]) { $1 })
        #expect(settings.from.text == "id@example.com")
        guard case .smtp(let server) = settings.sender else { throw NoServer() }
        return server
    }

    private struct NoServer: Error {}

    @Test func aMailServerHasTLSAndItsPort() throws {
        let implicit = try server("smtps://smtp.example.com")
        #expect(implicit.security == .implicitTLS && implicit.host == "smtp.example.com" && implicit.port == 465)
        #expect(implicit.login == nil && implicit.certificateAuthorities == nil)
        let upgraded = try server(
            "smtp://[2001:db8::1]",
            [
                "MERGANSER_SMTP_USER": "u", "MERGANSER_SMTP_PASSWORD": "p w", "MERGANSER_SMTP_CA_FILE": "/etc/ca.pem",
            ])
        #expect(upgraded.security == .startTLS && upgraded.host == "[2001:db8::1]" && upgraded.port == 587)
        #expect(upgraded.login == SMTPServer.Login(user: "u", password: "p w"))
        #expect(upgraded.certificateAuthorities == "/etc/ca.pem")
        #expect(try server("smtp://smtp.example.com:25").port == 25)
    }

    /// Only a development server, and only to its own machine, sends mail without TLS.
    @Test(arguments: ["localhost", "127.0.0.1", "[::1]"]) func nothingIsSentInTheClear(host: String) throws {
        #expect(try server("smtp://\(host):2525").security == .startTLS)
        #expect(try server("smtp://\(host):2525", Self.development).security == .startTLSIfOffered)
        #expect(try server("smtps://\(host):2525", Self.development).security == .implicitTLS)
        #expect(try server("smtp://10.0.0.1:2525", Self.development).security == .startTLS)
    }

    @Test func aDevelopmentServerMaySpool() throws {
        let settings = try settings("spool:/tmp/mail", Self.development)
        guard case .spool("/tmp/mail") = settings.sender else { throw NoServer() }
        #expect(settings.from.text == "merganser@localhost")
    }
}
