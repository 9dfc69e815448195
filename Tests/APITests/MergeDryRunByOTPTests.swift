import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// A dry run that a code stands for: one transaction, which finds the target once (accounts §3.1).
@Suite struct MergeDryRunByOTPTests {
    private let proxy: DatabaseProxy
    private let scene: OAuthScene
    private let requester: Phone
    private let target: Phone

    init() throws {
        let database = try TestDatabase()
        guard case .unixSocket(let socket) = database.options.address else {
            throw TestSupportError("MariaDB has no socket")
        }
        proxy = try DatabaseProxy(to: socket)
        scene = try OAuthScene(try TestApp(database: database, options: proxy.options(for: database.options)))
        requester = try scene.person("requester", email: "ada@example.com")
        target = try scene.person("target", email: "bea@example.com")
    }

    private func merge(_ code: String, _ members: [(String, JSONValue)] = []) -> Answer {
        scene.client.send(
            .post, "/api/v1/me/merge",
            .object(
                JSONObject([("target_email", "bea@example.com"), ("otp_code", .string(code))] + members)),
            token: requester.token)
    }

    /// The address passes to somebody else, if there is a moment between the check of the code and the plan.
    @Test func thePlanIsOfWhoeverGotTheCode() throws {
        let other = try scene.person("other", email: nil)
        try scene.app.change(
            "INSERT INTO identities (user_id, provider, sub) VALUES (?, 'google', 'second')", other.userID)
        let asked = scene.client.send(
            .post, "/api/v1/me/merge/otp", ["target_email": "bea@example.com"], token: requester.token)
        #expect(asked.status == 202)
        let code = try #require(try scene.app.mails().last?.code)
        let options = scene.app.database.options
        proxy.cut(.beforeServer, at: "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY") { [target] in
            guard let db = try? Connection(options) else { return }
            _ = try? db.execute("UPDATE users SET login_email = NULL WHERE id = ?", target.userID)
            _ = try? db.execute("UPDATE users SET login_email = 'bea@example.com' WHERE id = ?", other.userID)
        }
        let shown = merge(code, [("dry_run", true)])
        #expect(shown.status == 200)
        #expect(shown["moves"]?["identities"] == 1, "the other one has two")
        #expect(proxy.cutsMade == 0)
        #expect(merge(code)["linked_user_id"]?.integer == target.userID)

        // Whoever takes a snapshot meets it.
        try Database(proxy.options(for: options)).snapshot { _ in }
        #expect(proxy.cutsMade == 1)
    }
}
