import HTTP
import JSON
import TestSupport
import Testing
import Time

/// What a merge refuses, in the order of accounts §3.1; a refusal changes nothing.
@Suite struct MergeRefusalTests {
    static let invalidToken = #"401 {"error":"invalid_token"}"#

    let app: TestApp
    let scene: SwapScene
    let requester: Member
    let target: Member

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
        requester = try scene.member()
        target = try scene.member()
    }

    private func send(_ members: [(String, JSONValue)], as token: String? = nil, ifMatch: String? = nil) -> Answer {
        var request = scene.mergeRequest(requester, nil, members, ifMatch: ifMatch)
        if let token { request.token = token }
        return scene.client.send(request)
    }

    /// Both for the merge and for its dry run.
    private func expect(
        _ description: String, _ members: [(String, JSONValue)], as token: String? = nil, ifMatch: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try app.expectUnchanged(sourceLocation: sourceLocation) {
            for members in [members, members + [("dry_run", true)]] {
                let answer = send(members, as: token, ifMatch: ifMatch)
                #expect(answer.description == description, sourceLocation: sourceLocation)
                // The caller's own PAK is good.
                #expect(answer.header("WWW-Authenticate") == nil, sourceLocation: sourceLocation)
            }
        }
    }

    @Test func credentialsOfTheRequester() throws {
        let token = try scene.mergeToken(of: target.id)
        for pak in ["lpk_live_unknown", ""] {
            let answer = send([("target_session_token", .string(token))], as: pak)
            #expect(answer.description == Self.invalidToken)
            #expect(answer.header("WWW-Authenticate") == #"Bearer error="invalid_token""#)
        }
        try app.change("UPDATE paks SET scopes = 'profile:read' WHERE user_id = ?", requester.id)
        #expect(send([("target_session_token", .string(token))]).error == "insufficient_scope")
    }

    @Test func anAnonymousRequesterIsToldBeforeItsBodyIsLookedAt() throws {
        let anonymous = try scene.anonymous().token
        let refusal = #"422 {"error":"anonymous_requester"}"#
        try expect(refusal, [], as: anonymous)
        try expect(refusal, [("target_session_token", .string(scene.mergeToken(of: target.id)))], as: anonymous)
        let malformed = scene.client.send(.post, "/api/v1/me/merge", bytes: Array("[".utf8), token: anonymous)
        #expect(malformed.description == refusal)
    }

    @Test func oneProofNeitherBothNorNone() throws {
        let token: (String, JSONValue) = ("target_session_token", .string(try scene.mergeToken(of: target.id)))
        try expect(#"422 {"error":"conflicting_credentials"}"#, [token, ("otp_code", "12345678")])
        try expect(
            #"422 {"error":"conflicting_credentials"}"#,
            [token, ("otp_code", "12345678"), ("target_user_id", .integer(Int64(target.id)))])
        let withoutProof: [[(String, JSONValue)]] = [
            [], [("target_session_token", .null)], [("target_email", "bea@example.com")],
        ]
        for none in withoutProof {
            try expect(#"422 {"error":"missing_credentials"}"#, none)
        }
        try expect(#"400 {"error":"invalid_request"}"#, [("otp_code", "12345678")])
    }

    @Test func noCodeIsRight() throws {
        let targets: [(String, JSONValue)] = [
            ("target_user_id", .integer(Int64(target.id))), ("target_email", "bea@example.com"),
        ]
        for target in targets {
            try expect(#"401 {"error":"invalid_otp"}"#, [("otp_code", "12345678"), target])
        }
    }

    @Test func membersOfTheWrongType() throws {
        for members in [
            [("target_session_token", 1)], [("otp_code", true)], [("target_user_id", "7"), ("otp_code", "1")],
            [("target_email", 1)],
        ] as [[(String, JSONValue)]] {
            try expect(#"400 {"error":"invalid_request"}"#, members)
        }
        let token = try scene.mergeToken(of: target.id)
        let surrogate = #"{"target_session_token":"\#(token)\ud800"}"#
        for body in ["[]", "{", surrogate, #"{"target_session_token":"\#(token)","dry_run":1}"#] {
            let answer = scene.client.send(.post, "/api/v1/me/merge", bytes: Array(body.utf8), token: requester.token)
            #expect(answer.description == #"400 {"error":"invalid_request"}"#, "\(body)")
        }
    }

    @Test func unknownTokens() throws {
        let token = try scene.mergeToken(of: target.id)
        for other in ["", "ltgt_", String(token.dropLast()), token + "=", token.uppercased(), "lpk_live_x"] {
            try expect(Self.invalidToken, [("target_session_token", .string(other))])
        }
    }

    @Test func aTokenOfAnAccountThatIsNotLive() throws {
        let proof: [(String, JSONValue)] = [("target_session_token", .string(try scene.mergeToken(of: target.id)))]
        try app.change("UPDATE users SET deleted_at = ? WHERE id = ?", app.time.now, target.id)
        try expect(Self.invalidToken, proof)
        try app.change("UPDATE users SET deleted_at = NULL WHERE id = ?", target.id)
        try app.absorb(target.id, into: scene.identified().id)
        try expect(Self.invalidToken, proof)
        try app.change("DELETE FROM identity_links")
        try app.change("DELETE FROM users WHERE id = ?", target.id)
        try expect(Self.invalidToken, proof)
    }

    @Test func aTokenThatExpired() throws {
        let proof: [(String, JSONValue)] = [("target_session_token", .string(try scene.mergeToken(of: target.id)))]
        app.time.advance(by: .milliseconds(299_999))
        #expect(send(proof + [("dry_run", true)]).status == 200)
        app.time.advance(by: .milliseconds(1))
        try expect(#"401 {"error":"token_expired"}"#, proof)
        // The account is looked at first.
        try app.absorb(target.id, into: scene.identified().id)
        try expect(Self.invalidToken, proof)
    }

    @Test func aTokenThatWasUsed() throws {
        let token = try scene.mergeToken(of: target.id)
        #expect(scene.client.send(scene.mergeRequest(requester, token)).status == 200)
        let consumed = #"401 {"error":"token_consumed"}"#
        try expect(consumed, [("target_session_token", .string(token))])
        try expect(consumed, [("target_session_token", .string(token))], as: scene.member().token)
        app.time.advance(by: .seconds(300))
        try expect(consumed, [("target_session_token", .string(token))])
    }

    @Test func oneselfIsNobodyElse() throws {
        let own: (String, JSONValue) = ("target_session_token", .string(try scene.mergeToken(of: requester.id)))
        try expect(#"422 {"error":"self_merge_forbidden"}"#, [own])
        try expect(#"422 {"error":"self_merge_forbidden"}"#, [own], ifMatch: "other")
    }

    @Test func anotherPlan() throws {
        let proof: (String, JSONValue) = ("target_session_token", .string(try scene.mergeToken(of: target.id)))
        try expect(#"412 {"error":"plan_changed"}"#, [proof], ifMatch: "other")
    }

    @Test func aRequesterThatWasAbsorbedBefore() throws {
        // In imported rows its PAK may be left.
        try app.absorb(requester.id, into: scene.identified().id)
        let answer = send([("target_session_token", .string(try scene.mergeToken(of: target.id)))])
        #expect(answer.description == Self.invalidToken)
        #expect(answer.header("WWW-Authenticate") == #"Bearer error="invalid_token""#)
    }
}
