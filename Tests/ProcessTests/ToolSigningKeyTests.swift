import JOSE
import JSON
import MariaDB
import TestSupport
import Testing

/// `merganserctl signing-key` as an operator runs it.
@Suite struct ToolSigningKeyTests {
    let installation: Installation
    private let db: Connection

    init() throws {
        installation = try Installation()
        db = try installation.database.connect()
    }

    private func generate() throws -> String {
        let outcome = try installation.tool("signing-key", "generate", "--json")
        #expect(outcome.exit == .status(0), "\(outcome)")
        return try #require(try outcome.json()["kid"]?.string)
    }

    private func list() throws -> [JSONValue] {
        try #require(try installation.tool("signing-key", "list", "--json").json()["signing_keys"]?.array)
    }

    private func states() throws -> [JSONValue?] { try list().map { $0["state"] } }

    @Test func theFirstKeyIsActivatedAtOnce() throws {
        let generated = try installation.tool("signing-key", "generate", "--json").json()
        #expect(JSONObject.names(generated) == ["kid", "published_at", "activatable_at"])
        #expect(generated["activatable_at"] == generated["published_at"])
        let kid = try #require(generated["kid"]?.string)
        #expect(kid.wholeMatch(of: #/[0-9a-f]{16}/#) != nil)

        let activated = try installation.tool("signing-key", "activate", "--json").json()
        #expect(JSONObject.names(activated) == ["activated", "retired"])
        #expect(activated["retired"] == .null)
        let key = try #require(activated["activated"])
        #expect(
            JSONObject.names(key) == ["kid", "state", "published_at", "activated_at", "retired_at", "published_until"])
        #expect(key["kid"]?.string == kid)
        #expect(key["state"] == "active")
        #expect(key["retired_at"] == .null && key["published_until"] == .null)
        #expect(try list() == [key])
    }

    @Test func saysWhatComesNext() throws {
        let first = try installation.tool("signing-key", "generate").output
        #expect(
            first.wholeMatch(
                of:
                    #/
                    key\ [0-9a-f]{16}\ is\ published;\ running\ servers\ follow\ within\ 30\ seconds\n
                    next,\ at\ once:\ merganserctl\ signing-key\ activate\ [0-9a-f]{16}\n
                    /#
            ) != nil, "\(first)")
        let activated = try installation.tool("signing-key", "activate").output
        #expect(
            activated.wholeMatch(of: #/key [0-9a-f]{16} signs from now on; running servers follow within 30 seconds\n/#)
                != nil, "\(activated)")
        let second = try installation.tool("signing-key", "generate").output
        #expect(
            second.contains(#/\nnext, from \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ on: merganserctl signing-key activate /#),
            "\(second)")
        try db.execute(
            "UPDATE signing_keys SET published_at = published_at - INTERVAL 2 HOUR WHERE activated_at IS NULL")
        let next = try installation.tool("signing-key", "activate").output
        #expect(
            next.contains(
                #/\nkey [0-9a-f]{16} stays published until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, to verify its tokens\n/#),
            "\(next)")
        let words = try installation.tool("signing-key", "list").output.split(separator: "\n")
        #expect(words.count == 2)
        #expect(words[0].contains(#/^[0-9a-f]{16}  retired   published \S+  signs from \S+  to \S+$/#), "\(words)")
        #expect(words[1].contains(#/^[0-9a-f]{16}  active    published \S+  signs from \S+$/#), "\(words)")
    }

    @Test func aKeyIsKnownForAnHourBeforeItSigns() throws {
        let first = try generate()
        #expect(try installation.tool("signing-key", "activate").exit == .status(0))
        let second = try generate()
        let before = try installation.database.dump()
        let early = try installation.tool("signing-key", "activate", "--json")
        #expect(early.exit == .status(1))
        #expect(try early.errorJSON()["error"] == "refused")
        #expect(try early.errorJSON()["message"]?.string?.contains("clients may not know it before") == true)
        #expect(try installation.database.dump() == before)

        try db.execute("UPDATE signing_keys SET published_at = NOW(3) - INTERVAL 3540 SECOND WHERE kid = ?", second)
        #expect(try installation.tool("signing-key", "activate", second).exit == .status(1))
        try db.execute("UPDATE signing_keys SET published_at = NOW(3) - INTERVAL 3700 SECOND WHERE kid = ?", second)
        let activated = try installation.tool("signing-key", "activate", second, "--json").json()
        #expect(activated["activated"]?["kid"]?.string == second)
        #expect(activated["retired"]?["kid"]?.string == first)
        #expect(try states() == ["retired", "active"])
        #expect(try installation.tool("signing-key", "activate", first).exit == .status(1))
        let audited = try db.all(
            """
            SELECT CONCAT(actor, ' ', action, ' ', JSON_VALUE(details, '$.kid')) FROM audit_log
            WHERE action LIKE 'signing_key.%' ORDER BY id
            """
        ) { row in try row.read(String.self) }
        #expect(
            audited == [
                "operator signing_key.generated \(first)", "operator signing_key.activated \(first)",
                "operator signing_key.generated \(second)", "operator signing_key.activated \(second)",
            ])
    }

    @Test func aForcedKeySignsInHalfAMinute() throws {
        _ = try generate()
        _ = try installation.tool("signing-key", "activate")
        let second = try generate()
        let forced = try installation.tool("signing-key", "activate", "--force", "--json").json()
        #expect(forced["activated"]?["kid"]?.string == second)
        #expect(forced["activated"]?["state"] == "next")
        #expect(try states() == ["active", "next"])
        let wait = try db.first(
            "SELECT TIMESTAMPDIFF(MICROSECOND, published_at, activated_at) FROM signing_keys WHERE kid = ?", second
        ) { row in try row.read(Int.self) }
        #expect(wait == 30_000_000)
        _ = try generate()
        let overtaking = try installation.tool("signing-key", "activate", "--force", "--json")
        #expect(overtaking.exit == .status(1))
        #expect(try overtaking.errorJSON()["message"]?.string?.contains("takes effect at") == true)
    }

    @Test(arguments: [
        ([], "no key waits to be activated; run: merganserctl signing-key generate"),
        (["0123456789abcdef"], "there is no key 0123456789abcdef; `merganserctl signing-key list` shows them"),
    ])
    func refusesWithAReason(_ arguments: [String], _ message: String) throws {
        let outcome = try installation.tool(["signing-key", "activate", "--json"] + arguments)
        #expect(outcome.exit == .status(1))
        #expect(try outcome.errorJSON()["message"]?.string == message)
        #expect(try list().isEmpty)
        #expect(try installation.tool("signing-key", "list").output == "\n")
    }

    @Test func garbageCollectionLeavesTheName() throws {
        _ = try generate()
        _ = try installation.tool("signing-key", "activate")
        let second = try generate()
        try db.execute(
            """
            UPDATE signing_keys SET published_at = NOW() - INTERVAL 100 DAY,
                                    activated_at = IF(kid = ?, NULL, NOW() - INTERVAL 99 DAY)
            """, second)
        _ = try installation.tool("signing-key", "activate")
        try db.execute("UPDATE signing_keys SET retired_at = NOW() - INTERVAL 91 DAY WHERE kid <> ?", second)
        let outcome = try installation.tool("gc", "--json")
        #expect(try outcome.json()["deleted"]?["signing_keys"] == 1)
        #expect(try states() == ["removed", "active"])
    }

    /// A running server sees the first key at once, and later ones within 30 seconds.
    @Test func aRunningServerPublishesTheKey() throws {
        let server = try installation.readyServer()
        let path = "/.well-known/jwks.json"
        #expect(String(decoding: try installation.ask("GET", path).body, as: UTF8.self) == #"{"keys":[]}"#)
        let kid = try generate()
        let answer = try installation.ask("GET", path)
        #expect(answer.status == 200)
        #expect(KeySet(json: answer.body)?.keys.map(\.keyID) == [kid])
        #expect(server.isRunning)
    }
}
