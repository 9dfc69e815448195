import Foundation
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

@Suite struct ToolDevTests {
    @Test func theIssuersTokensAreBelieved() throws {
        let installation = try Installation()
        let made = try installation.tool("dev", "issuer", "init", "--json")
        #expect(made.exit == .status(0))
        let keys = installation.directory.file("keys")
        #expect(try made.json()["key_sets"] == [.string("\(keys)/apple.json"), .string("\(keys)/google.json")])
        let verifier = try verifier(keys)
        for provider in Provider.allCases {
            for algorithm in ["RS256", "ES256"] {
                let token = try self.token(
                    installation, provider, "--email", "a@gmail.com", "--alg", algorithm, "--email-verified", "false",
                    "--name", "김다혜")
                let identity = try verifier.verify(token, rawNonce: "-raw", provider: provider)
                #expect(identity.subject == "-sub")
                #expect(identity.email == "a@gmail.com")
                #expect(!identity.emailVerified)
            }
        }
        #expect(
            try verifier.verify(
                token(installation, .google, "--email", "a@gmail.com"), rawNonce: "-raw", provider: .google
            )
            .emailVerified)
    }

    @Test(arguments: [
        (["--expires-in", "-3600"], InvalidIdentityToken.Reason.expired),
        (["--audience", "com.example.other"], .wrongAudience),
        (["--issuer", "https://issuer.example"], .wrongIssuer),
        (["--kid", "-unknown"], .unknownKey),
        (["--nonce", "other"], .nonceMismatch),
    ])
    func theIssuerMakesWrongTokensToo(_ arguments: [String], _ reason: InvalidIdentityToken.Reason) throws {
        let installation = try Installation()
        _ = try installation.tool("dev", "issuer", "init")
        let verifier = try verifier(installation.directory.file("keys"))
        let token = try self.token(installation, .apple, arguments)
        let refusal = #expect(throws: InvalidIdentityToken.self) {
            try verifier.verify(token, rawNonce: "-raw", provider: .apple)
        }
        #expect(refusal?.reason == reason)
    }

    @Test func keysStayAndAreTheirOwnersAlone() throws {
        let installation = try Installation()
        let folder = installation.directory.file("keys")
        #expect(try installation.tool("dev", "issuer", "init").exit == .status(0))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(
            files == [
                "apple-es256.pem", "apple-rs256.pem", "apple.json", "google-es256.pem", "google-rs256.pem",
                "google.json",
            ])
        let contents = files.map { FileManager.default.contents(atPath: "\(folder)/\($0)") }
        for file in files where file.hasSuffix(".pem") {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        for set in ["apple.json", "google.json"] {
            let text = try String(contentsOfFile: "\(folder)/\(set)", encoding: .utf8)
            #expect(!text.contains("\"d\""))
        }
        #expect(try installation.tool("dev", "issuer", "init").exit == .status(0))
        #expect(files.map { FileManager.default.contents(atPath: "\(folder)/\($0)") } == contents)
    }

    @Test func aTokenNeedsKeysFirst() throws {
        let outcome = try Installation().tool(
            "dev", "token", "--provider", "apple", "--subject", "s", "--nonce", "n", "--json")
        #expect(outcome.exit == .status(1))
        #expect(try outcome.errorJSON()["message"]?.string?.contains("merganserctl dev issuer init") == true)
    }

    @Test func makesAnIdentifiedUserOnce() throws {
        let installation = try Installation()
        let arguments = ["dev", "user", "--provider", "google", "--subject", "bob"]
        let made = try installation.tool(arguments + ["--email", "Bob@gmail.com", "--name", "김다혜"])
        #expect(made.exit == .status(0))
        let user = try made.json()
        #expect(
            JSONObject.names(user) == ["id", "anonymous", "name", "contact_email", "provider", "sub", "created"])
        #expect(user["anonymous"] == false)
        #expect(user["name"] == "김다혜")
        #expect(user["contact_email"] == "Bob@gmail.com")
        #expect(user["created"] == true)
        let before = try installation.database.dump()
        #expect(before.contains("login_email=bob@gmail.com"))
        #expect(before.contains("action=user.created") && before.contains("action=identity.linked"))

        let again = try installation.tool(arguments + ["--name", "Other"]).json()
        #expect(again["id"] == user["id"])
        #expect(again["name"] == "김다혜")
        #expect(again["created"] == false)
        #expect(try installation.database.dump() == before)

        let other = try installation.tool("dev", "user", "--provider", "apple", "--subject", "bob").json()
        #expect(other["id"] != user["id"])
        #expect(other["name"] == .null)
    }

    @Test func seedsWithNoTwoApprovalsAlike() throws {
        let installation = try Installation()
        for client in ["notes", "chess"] {
            _ = try installation.tool(
                "application", "create", "--name", client, "--client-id", client, "--client-type", "public",
                "--redirect-uri", "https://rp.example/cb")
        }
        let users = try ["a", "b"].map { subject in
            let made = try installation.tool("dev", "user", "--provider", "apple", "--subject", subject).json()
            guard case .integer(let id) = made["id"] else { throw TestSupportError("no id in \(made)") }
            return id
        }
        for user in users {
            let outcome = try installation.tool(
                "dev", "seed", "--user", "\(user)", "--application", "notes", "--application", "chess",
                "--agent-approvals", "5", "--push-approvals", "3", "--json")
            #expect(outcome.exit == .status(0))
            #expect(
                try outcome.json()
                    == ["user": .integer(user), "grants": 2, "agent_approvals": 5, "push_approvals": 3])
        }
        let connection = try installation.database.connect()
        let hashes = try connection.all("SELECT display_payload_hash FROM agent_approvals WHERE status = 'pending'") {
            row in
            try row.read(String.self)
        }
        #expect(hashes.count == 10 && Set(hashes).count == 10)

        #expect(
            try connection.all(
                """
                SELECT DISTINCT CONCAT_WS(' ', r.history_length, r.history_digest = h.digest, r.sealed_request IS NULL)
                FROM agent_approvals r JOIN agent_approval_history h ON h.approval = r.public_id
                """
            ) { row in try row.read(String.self) } == ["1 1 0"])

        let again = try installation.tool("dev", "seed", "--user", "\(users[0])", "--application", "notes", "--json")
        #expect(try again.json()["grants"] == 0)
        let shown = try installation.tool("user", "show", "\(users[0])", "--json").json()
        #expect(shown["grants"]?.array?.count == 2)
        #expect(shown["grants"]?.array?.first?["sub"] == .string("\(users[0])"))
        #expect(shown["pending_agent_approvals"] == 5)
        #expect(shown["push_approvals"] == 3)
    }

    @Test(arguments: [
        (["--user", "99"], "there is no user 99"),
        (["--user", "1", "--application", "none"], "there is no application none"),
    ])
    func seedsNothingByHalves(_ arguments: [String], _ reason: String) throws {
        let installation = try Installation()
        _ = try installation.tool("dev", "user", "--provider", "apple", "--subject", "a")
        let before = try installation.database.dump()
        let outcome = try installation.tool(["dev", "seed"] + arguments + ["--agent-approvals", "2", "--json"])
        #expect(outcome.exit == .status(1))
        let error = try outcome.errorJSON()
        #expect(error["error"] == "refused")
        #expect(error["message"]?.string == reason)
        #expect(try installation.database.dump() == before)
    }

    @Test func refusesNumbersOutOfBounds() throws {
        let installation = try Installation()
        for option in ["--agent-approvals", "--push-approvals"] {
            let outcome = try installation.tool("dev", "seed", "--user", "1", option, "10001", "--json")
            #expect(outcome.exit == .status(64))
            #expect(try outcome.errorJSON()["message"]?.string?.contains("\(option) is 10001") == true)
        }
        let subject = String(repeating: "x", count: 256)
        let outcome = try installation.tool("dev", "user", "--provider", "apple", "--subject", subject, "--json")
        #expect(outcome.exit == .status(64))
        #expect(try outcome.errorJSON()["message"]?.string?.contains("--subject has 256 bytes") == true)
    }

    private func token(_ installation: Installation, _ provider: Provider, _ arguments: String...) throws -> String {
        try token(installation, provider, arguments)
    }

    private func token(_ installation: Installation, _ provider: Provider, _ arguments: [String]) throws -> String {
        let nonce = arguments.contains("--nonce") ? [] : ["--nonce", "-raw"]
        let audience = arguments.contains("--audience") ? [] : ["--audience", "com.example.app"]
        let outcome = try installation.tool(
            ["dev", "token", "--provider", provider.rawValue, "--subject", "-sub"] + nonce + audience + arguments)
        #expect(outcome.exit == .status(0), "\(outcome.errorOutput)")
        return String(outcome.output.dropLast())
    }

    private func verifier(_ keys: String) throws -> IdentityTokenVerifier {
        var keySets: [Provider: [UInt8]] = [:]
        var settings: [Provider: ProviderSettings] = [:]
        for provider in Provider.allCases {
            let file = try #require(FileManager.default.contents(atPath: "\(keys)/\(provider.rawValue).json"))
            keySets[provider] = Array(file)
            settings[provider] = provider.defaults
            settings[provider]?.audiences = ["com.example.app"]
        }
        return IdentityTokenVerifier(providers: settings, cacheDirectory: nil, initialKeySets: keySets)
    }
}
