import Foundation
import IdentityTokens
import JSON
import OpenSSL
import TestSupport
import Testing
import Text

/// `merganserctl dev provider`: the pages that stand in for Apple's and Google's.
@Suite struct ToolProviderTests {
    private let installation: Installation
    private let process: ChildProcess
    private let port: UInt16

    init() throws {
        let installation = try Installation([
            "MERGANSER_APPLE_WEB_CLIENT_ID": "com.example.web", "MERGANSER_GOOGLE_WEB_CLIENT_ID": "web.google.example",
        ])
        _ = try installation.tool("dev", "issuer", "init")
        let process = try ChildProcess(
            Repository.program("merganserctl"), ["dev", "provider", "--port", "0", "--json"],
            environment: installation.environment)
        try process.wait(for: "an address") { process.output.contains("\n") }
        let address = try #require(try JSONValue(json: Array(process.output.utf8))["address"]?.string)
        #expect(address.hasPrefix("http://127.0.0.1:"))
        port = try #require(UInt16(address.split(separator: ":").last ?? ""))
        (self.installation, self.process) = (installation, process)
    }

    private func request(_ provider: Provider, _ changes: [String: String?] = [:]) -> String {
        var parameters: [String: String?] = [
            "client_id": provider == .apple ? "com.example.web" : "web.google.example",
            "redirect_uri": "http%3A%2F%2F127.0.0.1%3A8080%2Fauth%2F\(provider.rawValue)%2Fweb%2Fcallback",
            "response_type": provider == .apple ? "code+id_token" : "id_token", "response_mode": "form_post",
            "scope": provider == .apple ? "name%20email" : "openid%20email%20profile", "state": "s%22%3Ct",
            "nonce": sha256("raw".utf8).hexadecimal,
        ]
        parameters.merge(changes) { $1 }
        return parameters.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: "&")
    }

    private func post(_ provider: Provider, _ form: String) throws -> String {
        let answer = try HTTPConnection(port: port).ask(
            "POST", "/\(provider.rawValue)/authorize", body: Array("\(request(provider))&\(form)".utf8))
        try #require(answer.status == 200)
        return String(decoding: answer.body, as: UTF8.self)
    }

    private func field(_ name: String, in page: String) -> String? {
        page.components(separatedBy: "name=\"\(name)\" value=\"").dropFirst().first.map {
            String($0.prefix { $0 != "\"" })
        }
    }

    @Test(arguments: Provider.allCases) func whatIsTypedComesBackSigned(_ provider: Provider) throws {
        let page = try HTTPConnection(port: port).ask("GET", "/\(provider.rawValue)/authorize?\(request(provider))")
        #expect(page.status == 200 && page.header("content-type") == "text/html; charset=utf-8")
        #expect(String(decoding: page.body, as: UTF8.self).contains("name=\"subject\""))

        let first = try post(provider, "subject=ada%20l&email=ada%40example.com&given_name=Ada&decision=continue")
        #expect(first.contains("action=\"http://127.0.0.1:8080/auth/\(provider.rawValue)/web/callback\""))
        #expect(field("state", in: first) == "s&quot;&lt;t")
        let token = try #require(field("id_token", in: first))
        let keys = installation.directory.file("keys/\(provider.rawValue).json")
        var settings = provider.defaults
        settings.audiences = ["com.example.web", "web.google.example"]
        let verifier = IdentityTokenVerifier(
            providers: [provider: settings], cacheDirectory: nil,
            initialKeySets: [provider: Array(try String(contentsOfFile: keys, encoding: .utf8).utf8)])
        let identity = try verifier.verify(token, rawNonce: "raw", provider: provider)
        #expect(identity.subject == "ada l" && identity.email == "ada@example.com" && identity.emailVerified)

        // Apple tells the name the first time.
        #expect((field("user", in: first) != nil) == (provider == .apple))
        #expect(field("user", in: try post(provider, "subject=ada%20l&given_name=Ada&decision=continue")) == nil)
    }

    @Test func turningBackIsSaidTheProvidersWay() throws {
        for (provider, error) in [(Provider.apple, "user_cancelled_authorize"), (.google, "access_denied")] {
            let page = try post(provider, "subject=&decision=cancel")
            #expect(field("error", in: page) == error && field("state", in: page) == "s&quot;&lt;t")
            #expect(field("id_token", in: page) == nil)
        }
    }

    @Test func whatTheProvidersRefuseIsRefused() throws {
        for changes in [
            ["client_id": "other"], ["redirect_uri": "https%3A%2F%2Fevil.example"], ["redirect_uri": nil],
            ["response_type": "code"], ["response_mode": "query"], ["scope": "openid"], ["state": nil], ["nonce": ""],
        ] as [[String: String?]] {
            let answer = try HTTPConnection(port: port).ask("GET", "/apple/authorize?\(request(.apple, changes))")
            #expect(answer.status == 400, "\(changes)")
        }
        for path in ["/", "/facebook/authorize", "/apple", "/apple/authorize/x"] {
            #expect(try HTTPConnection(port: port).ask("GET", path).status == 404)
        }
        #expect(try HTTPConnection(port: port).ask("PUT", "/apple/authorize").status == 405)
    }

    @Test func aConnectionThatSaysNothingKeepsNobodyWaiting() throws {
        let silent = try (1...8).map { _ in try HTTPConnection(port: port) }
        #expect(try HTTPConnection(port: port).ask("GET", "/").status == 404)
        #expect(silent.count == 8)
    }
}
