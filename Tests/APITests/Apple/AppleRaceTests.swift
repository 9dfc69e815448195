import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Apple's word that somebody's account there is gone, against everything else that touches the same account: the identity is
/// gone, and nobody is left who cannot sign in.
@Suite struct AppleRaceTests {
    let app: TestApp
    let scene: SwapScene

    private static let rounds = 30

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    /// A member, its identity at Google, and a token of Apple's.
    private func person(_ providers: [Provider] = [.apple]) throws -> Member {
        let member = try scene.member()
        if providers.contains(.google) { try scene.identity("google-\(member.id)", .google, of: member.id) }
        try app.change(
            """
            UPDATE identities SET apple_client_id = 'c', apple_token_handle = REPEAT('h', 16), apple_token = 'sealed'
            WHERE user_id = ? AND provider = 'apple'
            """, member.id)
        return member
    }

    private func notification(_ type: String = "account-delete", of member: Member) -> RepeatableRequest {
        let payload = app.appleNotification(type, of: member.subject, id: "\(type) \(member.id)")
        return RepeatableRequest(
            method: .post, path: "/auth/apple/notifications", body: ["payload": .string(payload)])
    }

    private func race(
        _ prepare: () throws -> (Member, RepeatableRequest), _ check: (Member, Answer, Comment) throws -> Void
    ) throws {
        let racers = Racers(app, 2)
        for round in 0..<Self.rounds {
            let (member, other) = try prepare()
            let offset = Duration.microseconds(300 * (round - Self.rounds / 2))
            let answers = try racers.race(
                [notification(of: member), other], delays: [max(.zero, .zero - offset), max(.zero, offset)])
            let comment: Comment = "round \(round): \(answers)"
            #expect(answers[0].description == "200 {}", comment)
            #expect(answers[1].status < 500, comment)
            try check(member, answers[1], comment)
            // Of the person and whoever else took part.
            let lost = try app.column(
                """
                SELECT CAST(id AS CHAR) FROM users u WHERE deleted_at IS NULL AND NOT anonymous
                  AND NOT EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id)
                  AND NOT EXISTS (SELECT 1 FROM identity_links l WHERE l.linked_user_id = u.id)
                """)
            #expect(lost == [], comment)
            #expect(try app.count("SELECT COUNT(*) FROM identities WHERE sub = ?", member.subject) == 0, comment)
        }
        #expect(app.statistics.exhaustions.value == 0)
    }

    private func isDeleted(_ id: Int) throws -> Bool {
        try app.count("SELECT COUNT(*) FROM users WHERE id = ? AND deleted_at IS NOT NULL", id) == 1
    }

    @Test func besideADeletion() throws {
        try race {
            let member = try person()
            return (member, .deletion(by: member.token))
        } _: { member, answer, comment in
            #expect(answer.status == 202 || answer.status == 401, comment)
            let isMemberDeleted = try isDeleted(member.id)
            #expect(isMemberDeleted, comment)
            try app.expectEnded(member.id, comment)
        }
    }

    @Test(arguments: [Provider.apple, .google]) func besideUnlinking(_ provider: Provider) throws {
        try race {
            let member = try person([.apple, .google])
            let unlink = RepeatableRequest(
                method: .delete, path: "/api/v1/me/connected_identities/\(provider.rawValue)", token: member.token)
            return (member, unlink)
        } _: { member, answer, comment in
            // Without Google's, Apple's was the last.
            let isLast = provider == .google && answer.status == 200
            let isMemberDeleted = try isDeleted(member.id)
            #expect(isMemberDeleted == isLast, comment)
        }
    }

    @Test func besideALink() throws {
        try race {
            let member = try person()
            let link = RepeatableRequest(
                method: .post, path: "/api/v1/me/connected_identities",
                body: app.proof("google-\(member.id)", of: .google).adding(["provider": "google"]),
                token: member.token)
            return (member, link)
        } _: { member, answer, comment in
            let isMemberDeleted = try isDeleted(member.id)
            #expect(isMemberDeleted == (answer.status != 200), comment)
        }
    }

    @Test func besideASwapInto() throws {
        try race {
            let member = try person([.apple, .google])
            let b = IdentifiedUser(id: member.id, subject: member.subject)
            return (member, try scene.swapRequest(try scene.anonymous(), into: b, by: .ticket))
        } _: { member, answer, comment in
            let isMemberDeleted = try isDeleted(member.id)
            #expect(!isMemberDeleted, comment)
            #expect(answer.status == 200 || answer.status == 422, comment)
        }
    }

    /// The identity moves to the survivor meanwhile.
    @Test func besideAMergeOfIt() throws {
        var survivor = 0
        try race {
            let (member, other) = (try person(), try scene.member())
            survivor = other.id
            return (member, scene.mergeRequest(other, try scene.mergeToken(of: member.id)))
        } _: { member, answer, comment in
            let isMemberDeleted = try isDeleted(member.id)
            #expect(isMemberDeleted == (answer.status != 200), comment)
            let isOtherDeleted = try isDeleted(survivor)
            #expect(!isOtherDeleted, comment)
        }
    }

    @Test func besideAMergeByIt() throws {
        var target = 0
        try race {
            let (member, other) = (try person(), try scene.member())
            target = other.id
            return (member, scene.mergeRequest(member, try scene.mergeToken(of: other.id)))
        } _: { member, answer, comment in
            let isMemberDeleted = try isDeleted(member.id)
            #expect(isMemberDeleted == (answer.status != 200), comment)
            let isOtherDeleted = try isDeleted(target)
            #expect(!isOtherDeleted, comment)
        }
    }

    /// Another notification about the same person.
    @Test func besideWithdrawnConsent() throws {
        try race {
            let member = try person()
            return (member, notification("consent-revoked", of: member))
        } _: { member, answer, comment in
            #expect(answer.status == 200, comment)
            let isMemberDeleted = try isDeleted(member.id)
            #expect(isMemberDeleted, comment)
        }
    }
}
