import OpenSSL
import Push
import Testing

@testable import Configuration

/// How phones are notified.
@Suite struct PushTests {
    private static let key = Result { try PrivateKey.generateP256() }
    private static var variables: [String: String] {
        get throws {
            [
                "MERGANSER_PUSH_SENDER": "apns", "MERGANSER_APNS_TEAM_ID": "A1B2C3D4E5",
                "MERGANSER_APNS_KEY_ID": "F6G7H8J9K0", "MERGANSER_APNS_TOPIC": "com.example.app",
                "MERGANSER_APNS_PRIVATE_KEY": try key.get().pem,
            ]
        }
    }

    private func apns(_ variables: [String: String] = [:]) throws -> APNsSettings? {
        let all = try Self.variables.merging(variables) { $1 }
        guard case .apns(let settings)? = try Configuration.load(environment: good.setting(all)).push else {
            return nil
        }
        return settings
    }

    private func problems(_ variables: [String: String]) throws -> [String] {
        do {
            _ = try Configuration.load(environment: good.setting(variables))
            return []
        } catch {
            return error.problems.map(\.variable)
        }
    }

    @Test func nobodyIsNotifiedUnlessItIsSet() throws {
        #expect(try Configuration.load(environment: good).push == nil)
        #expect(try Configuration.load(environment: good.setting(["MERGANSER_PUSH_SENDER": "none"])).push == nil)
    }

    @Test func applesServersAreKnown() throws {
        let settings = try #require(try apns())
        #expect(
            settings.teamID == "A1B2C3D4E5" && settings.keyID == "F6G7H8J9K0" && settings.topic == "com.example.app")
        #expect(settings.url == "https://api.push.apple.com" && settings.certificateAuthorities == nil)
        let sandbox = try #require(try apns(["MERGANSER_APNS_ENVIRONMENT": "sandbox"]))
        #expect(sandbox.url == "https://api.sandbox.push.apple.com" && sandbox.environment == .sandbox)
        let proxy = ["MERGANSER_APNS_URL": "https://proxy.example:2197", "MERGANSER_APNS_CA_FILE": "/etc/ca.pem"]
        let other = try #require(try apns(proxy))
        #expect(other.url == "https://proxy.example:2197" && other.certificateAuthorities == "/etc/ca.pem")
    }

    @Test func aDevelopmentServerMaySpool() throws {
        let variables = [
            "MERGANSER_ENVIRONMENT": "development", "MERGANSER_ISSUER": "http://127.0.0.1:8080",
            "MERGANSER_PUSH_SENDER": "spool:/tmp/push",
        ]
        guard case .spool("/tmp/push")? = try Configuration.load(environment: good.setting(variables)).push else {
            Issue.record("no spool")
            return
        }
    }

    @Test func whatIsMissingIsNamed() throws {
        let names = ["TEAM_ID", "KEY_ID", "PRIVATE_KEY", "TOPIC"].map { "MERGANSER_APNS_\($0)" }
        #expect(try problems(["MERGANSER_PUSH_SENDER": "apns"]) == names)
    }

    @Test func theKeyIsReadAtTheStart() throws {
        let rsa = try PrivateKey.generateRSA()
        for text in ["x", rsa.pem, try Self.key.get().pem.replacing("PRIVATE", with: "PUBLIC")] {
            let all = try Self.variables.merging(["MERGANSER_APNS_PRIVATE_KEY": text]) { $1 }
            #expect(try problems(all) == ["MERGANSER_APNS_PRIVATE_KEY"])
        }
    }

    @Test(arguments: [
        ("MERGANSER_APNS_TEAM_ID", "a1b2c3d4e5"), ("MERGANSER_APNS_TEAM_ID", "A1B2C3D4E"),
        ("MERGANSER_APNS_KEY_ID", "F6G7H8J9K01"), ("MERGANSER_APNS_TOPIC", "com example"),
        ("MERGANSER_APNS_ENVIRONMENT", "development"), ("MERGANSER_APNS_URL", "http://127.0.0.1:1"),
        ("MERGANSER_APNS_URL", "https://proxy.example/"), ("MERGANSER_APNS_CA_FILE", "ca.pem"),
        ("MERGANSER_PUSH_SENDER", "apple"), ("MERGANSER_PUSH_SENDER", "spool:/tmp/push"),
    ])
    func aWrongValueIsNamed(variable: String, value: String) throws {
        #expect(try problems(Self.variables.merging([variable: value]) { $1 }) == [variable])
    }

    @Test func whatNobodyReadsIsNamed() throws {
        #expect(try problems(["MERGANSER_APNS_TOPIC": "com.example.app"]) == ["MERGANSER_APNS_TOPIC"])
    }
}
