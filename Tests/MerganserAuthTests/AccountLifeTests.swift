import FaultProxy
import Foundation
import TestSupport
import Testing

@testable import MerganserAuth

/// What ends or leaves an account: merge, export, deletion, restoration. Each test has a server of its own.
@Suite(.serialized) struct AccountLifeTests {
    // MARK: Merge

    @Test func aMergeIsHeldToItsPlan() async throws {
        let deployment = try Deployment()
        let (survivor, app) = (try deployment.accountSession(), try await deployment.app())
        try await survivor.signIn(with: deployment.credential("person"))
        let token = try await app.account.mergeToken()
        let preview = try await survivor.preview(.token(token))
        #expect(preview.moves.devices == 1 && preview.moves.grants == 0 && preview.moves.identities == 0)
        try await deployment.session(InMemoryStore(), browser: app).signIn()
        let refusal = await #expect(throws: MerganserError.self) {
            try await survivor.merge(.token(token), as: preview)
        }
        guard case .server(412, "plan_changed", _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        let now = try await survivor.preview(.token(token))
        #expect(now.moves.grants == 1)
        try await survivor.merge(.token(token), as: now)
        #expect(try await survivor.connectedApps().map(\.clientID) == [deployment.clientID])
    }

    /// The code that was mailed to the other account.
    @Test func aCodeProvesTheOtherAccount() async throws {
        let deployment = try Deployment()
        let (survivor, other) = (try deployment.accountSession(), try deployment.accountSession())
        let account = try await survivor.signIn(with: deployment.credential("person"))
        let absorbed = try await other.signIn(with: deployment.credential("mina", email: "mina@gmail.com"))
        try await survivor.sendMergeCode(to: "mina@gmail.com")
        // Mail is sent after the answer.
        var mail = ""
        for _ in 0..<6000 where mail.isEmpty {
            mail = deployment.installation.directory.text("mail/mail.jsonl")
            if mail.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        }
        let code = String(try #require(mail.firstMatch(of: /\b[0-9]{8}\b/), "\(mail)").0)
        let proof = MergeProof.code(code, sentTo: "mina@gmail.com")
        #expect(try await survivor.preview(proof).moves.identities == 1)
        let result = try await survivor.merge(proof)
        #expect(result.primaryUserID == account.id && result.linkedUserID == absorbed.id)
        #expect(!"\(proof)".contains(code))
    }

    // MARK: Export

    @Test func theExportIsAFile() async throws {
        let deployment = try Deployment()
        let session = try await deployment.app(subject: "person").account
        let directory = try TemporaryDirectory()
        let file = URL(filePath: directory.file("export.json"))

        // Nothing is used up by a place that cannot be written, and nothing is there after a cut.
        let nowhere = URL(filePath: directory.file("none/export.json"))
        await #expect(throws: MerganserError.fileUnavailable(nowhere)) { try await session.export(to: nowhere) }
        deployment.proxy.arm(.cutAnswer(after: 20), at: "/api/v1/me/export")
        await #expect(throws: MerganserError.offline) { try await session.export(to: file) }
        deployment.proxy.arm(
            .answer(status: 200, headers: [("Content-Type", "text/html")], body: "<html>Welcome"),
            at: "/api/v1/me/export")
        await #expect(throws: MerganserError.self) { try await session.export(to: file) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        #expect(deployment.proxy.count("/api/v1/me/export") == 2)

        // A token that ended does not matter.
        try deployment.run("UPDATE paks SET revoked_at = NOW(3)")
        try await session.export(to: file)
        try await session.export(to: file)
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        #expect(document?["format"] != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["export.json"])
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        let refusal = await #expect(throws: MerganserError.self) { try await session.export(to: file) }
        guard case .server(429, "rate_limited", _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) is [String: Any])
    }

    // MARK: Deletion

    @Test func aDeletedAccountSaysUntilWhen() async throws {
        let deployment = try Deployment()
        let (session, other) = (try deployment.accountSession(), try deployment.accountSession())
        let account = try await session.signIn(with: deployment.credential("person"))
        #expect(try await other.signIn(with: deployment.credential("person")) == account)
        let deletion = try await session.deleteAccount()
        #expect(deletion.purgeAt > deletion.deletedAt)
        #expect(await session.state == .signedOut(.requested))
        let gone = MerganserError.accountDeleted(purgeAt: deletion.purgeAt)
        #expect(gone.recoverySuggestion != nil)
        await #expect(throws: gone) { try await session.signIn(with: deployment.credential("person")) }

        // The user's other device learns it when it asks.
        await #expect(throws: MerganserError.signedOut(.deviceUnknown)) { try await other.profile() }

        let guest = try await session.bootstrap()
        #expect(guest.anonymous && guest.id != account.id)
        await #expect(throws: gone) { try await session.link(deployment.credential("person")) }
        #expect(await session.state == .guest(guest))
    }

    /// Where the operator allows it, signing in takes the deletion back.
    @Test func aSignInRestores() async throws {
        let deployment = try Deployment(["MERGANSER_RESTORE_WITHIN_GRACE": "on"])
        let session = try deployment.accountSession()
        let account = try await session.signIn(with: deployment.credential("person"))
        _ = try await session.deleteAccount()
        #expect(try await session.signIn(with: deployment.credential("person")) == account)
        #expect(await session.state == .known(account))
    }
}
