import JSON
import TestSupport
import Testing
import Time

@testable import Mail

/// Mail on its way to a real SMTP server, and what keeps it from getting there.
@Suite struct SMTPTests {
    private static let code = "12345678"
    private static let recipient = "bea@example.com"

    private func send(
        to server: SMTPTestServer, _ security: SMTPServer.Security, host: String = "localhost", trusting file: String?,
        login: SMTPServer.Login? = nil, recipient: String = recipient, timeout: Duration = .seconds(15)
    ) throws {
        var smtp = SMTPServer(security, host: host, port: server.port, login: login, certificateAuthorities: file)
        smtp.timeout = timeout
        let settings = MailSettings(sender: .smtp(smtp), from: try #require(MailAddress("id@mail.example")))
        let message = MailMessage(
            to: try #require(MailAddress(recipient)), subject: "Code", text: "\(Self.code)\n.\n..x\n")
        try settings.send(message, at: Timestamp(seconds: 1_795_339_691))
    }

    private func expectFailure(
        _ reason: MailError.Reason, sourceLocation: SourceLocation = #_sourceLocation, _ send: () throws -> Void
    ) throws {
        let error = try #require(throws: MailError.self, sourceLocation: sourceLocation) { try send() }
        #expect(error.reason == reason, "\(error)", sourceLocation: sourceLocation)
        for secret in [Self.code, Self.recipient, "nobody", "sesame"] {
            #expect(!error.description.contains(secret), sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: [(SMTPTestServer.TLS.implicit, SMTPServer.Security.implicitTLS), (.starttls, .startTLS)])
    func aMessageArrives(tls: SMTPTestServer.TLS, security: SMTPServer.Security) throws {
        let server = try SMTPTestServer(tls)
        for host in ["localhost", "127.0.0.1"] {
            try send(to: server, security, host: host, trusting: server.certificate)
        }
        let messages = try server.messages
        #expect(messages.count == 2)
        for message in messages {
            #expect(message["from"] == "id@mail.example")
            #expect(message["to"] == [.string(Self.recipient)])
            #expect(message["greeting"] == "mail.example")
            #expect(message["tls"] == true)
            let content = try #require(message["content"]?.string)
            #expect(content.hasPrefix("Date: Sun, 22 Nov 2026 09:28:11 +0000\r\nFrom: <id@mail.example>\r\n"))
            #expect(content.contains("\r\nTo: <bea@example.com>\r\n") && content.hasSuffix("\r\n"))
        }
        #expect(messages[0]["content"] != messages[1]["content"], "each has an id of its own")
    }

    @Test func aLoginIsUsed() throws {
        let server = try SMTPTestServer(.starttls, ["--user", "mail user", "--password", "se same€"])
        let login = SMTPServer.Login(user: "mail user", password: "se same€")
        try send(to: server, .startTLS, trusting: server.certificate, login: login)
        #expect(try server.messages[0]["user"] == "mail user")
        let wrong = SMTPServer.Login(user: "mail user", password: "sesame")
        try expectFailure(.refused) { try send(to: server, .startTLS, trusting: server.certificate, login: wrong) }
        try expectFailure(.refused) { try send(to: server, .startTLS, trusting: server.certificate) }
        #expect(try server.messages.count == 1)
    }

    @Test func anInternationalAddressIsSentAsOne() throws {
        let server = try SMTPTestServer(.starttls)
        try send(to: server, .startTLS, trusting: server.certificate, recipient: "베아@example.com")
        let message = try #require(try server.messages.first)
        #expect(message["to"] == ["베아@example.com"])
        #expect(message["options"]?.array?.contains("SMTPUTF8") == true)
    }

    // MARK: TLS

    @Test(arguments: [(SMTPTestServer.TLS.implicit, SMTPServer.Security.implicitTLS), (.starttls, .startTLS)])
    func theCertificateMustBeTrustedAndHaveTheName(tls: SMTPTestServer.TLS, security: SMTPServer.Security) throws {
        let server = try SMTPTestServer(tls, names: "DNS:other.example")
        let stranger = try SMTPTestServer(tls)
        for (server, file) in [
            (stranger, nil), (stranger, server.certificate), (server, server.certificate),
        ] {
            try expectFailure(.failed) { try send(to: server, security, trusting: file) }
            #expect(try server.messages.isEmpty)
        }
    }

    @Test func nothingIsSentInTheClear() throws {
        let server = try SMTPTestServer(.none)
        try expectFailure(.failed) { try send(to: server, .startTLS, trusting: nil) }
        try expectFailure(.failed) { try send(to: server, .implicitTLS, trusting: nil) }
        #expect(try server.messages.isEmpty)
        try send(to: server, .startTLSIfOffered, trusting: nil)
        #expect(try server.messages[0]["tls"] == false)
    }

    /// Also in development: a certificate that is there is checked.
    @Test func whatIsOfferedIsUsed() throws {
        let server = try SMTPTestServer(.starttls)
        try expectFailure(.failed) { try send(to: server, .startTLSIfOffered, trusting: nil) }
        try send(to: server, .startTLSIfOffered, trusting: server.certificate)
        #expect(try server.messages.map { $0["tls"] } == [true])
    }

    // MARK: Refusals and silence

    @Test(arguments: ["MAIL", "RCPT", "DATA"], ["550 5.1.1 nobody@example.com is unknown", "451 4.7.1 nobody: later"])
    func aRefusalIsOne(step: String, reply: String) throws {
        let server = try SMTPTestServer(.starttls, ["--refuse-at", step, "--reply", reply])
        try expectFailure(.refused) { try send(to: server, .startTLS, trusting: server.certificate) }
    }

    @Test(arguments: ["greeting", "RCPT", "DATA"])
    func silenceEnds(step: String) throws {
        let server = try SMTPTestServer(.starttls, ["--silent-at", step])
        try expectFailure(.timeout) {
            try send(to: server, .startTLS, trusting: server.certificate, timeout: .seconds(1))
        }
    }

    @Test func nobodyMayListen() throws {
        let server = try SMTPTestServer(.none)
        server.stop()
        try expectFailure(.failed) { try send(to: server, .startTLSIfOffered, trusting: nil) }
    }
}
