import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

/// Swaps by the ticket of a refused link, so that a person signs in once (accounts §1.8, §1.9).
@Suite struct SwapTicketTests {
    static let invalid = #"422 {"error":"invalid_swap_ticket"}"#

    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    private func send(_ members: KeyValuePairs<String, JSONValue?>, _ a: Phone) -> Answer {
        scene.client.send(
            .post, "/api/v1/me/anonymous_swap", ([:] as JSONValue).adding(members), token: a.token)
    }

    private func refusedLink(_ a: Phone, _ b: IdentifiedUser) throws -> String {
        let refused = scene.client.send(
            .post, "/api/v1/me/connected_identities", app.proof(b.subject).adding(["provider": "apple"]),
            token: a.token)
        #expect(refused.status == 409)
        return try #require(refused["swap_ticket"]?.string)
    }

    @Test(arguments: [nil, "apple"] as [JSONValue?])
    func theTicketOfARefusedLinkIsProofEnough(provider: JSONValue?) throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let ticket = try refusedLink(a, b)
        #expect(ticket.wholeMatch(of: /swt_[A-Za-z0-9_-]{43}/) != nil)
        let answer = send(["swap_ticket": .string(ticket), "provider": provider], a)
        #expect(answer["user"]?["id"]?.integer == b.id)
        #expect(send(["swap_ticket": .string(ticket)], a).description == #"401 {"error":"invalid_token"}"#)
        #expect(try scene.ids("SELECT id FROM swap_tickets") == [])
    }

    @Test func ofSeveralTicketsEachIsGood() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let tickets = [try refusedLink(a, b), try refusedLink(a, b)]
        for ticket in tickets {
            #expect(send(["swap_ticket": .string(ticket), "dry_run": true], a).status == 200)
        }
    }

    @Test func itExpiresAfterTenMinutes() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let ticket = JSONValue.string(try refusedLink(a, b))
        app.time.advance(by: .milliseconds(599_999))
        #expect(send(["swap_ticket": ticket, "dry_run": true], a).status == 200)
        app.time.advance(by: .milliseconds(1))
        #expect(send(["swap_ticket": ticket, "dry_run": true], a).description == Self.invalid)
        #expect(send(["swap_ticket": ticket], a).description == Self.invalid)
    }

    @Test func onlyItsCallerItsProviderAndItsLetters() throws {
        let (a, other, b) = (try scene.anonymous(), try scene.anonymous(), try scene.identified())
        let ticket = try refusedLink(a, b)
        let swappedCase = String(
            ticket.map { character in
                Character(character.isLowercase ? character.uppercased() : character.lowercased())
            })
        try app.expectUnchanged {
            #expect(send(["swap_ticket": .string(ticket)], other).description == Self.invalid)
            #expect(send(["swap_ticket": .string(ticket), "provider": "google"], a).description == Self.invalid)
            for text in ["", "swt_", ticket + " ", String(ticket.dropLast()), swappedCase, String(ticket.dropFirst(4))]
            {
                #expect(send(["swap_ticket": .string(text)], a).description == Self.invalid)
            }
        }
        #expect(send(["swap_ticket": .string(ticket)], a).status == 200)
    }

    @Test func aUsedOne() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let ticket = try scene.ticket(for: a.userID, subject: b.subject)
        try scene.db.execute("UPDATE swap_tickets SET used_at = ?", app.time.now)
        try app.expectUnchanged { #expect(send(["swap_ticket": .string(ticket)], a).description == Self.invalid) }
    }

    @Test func notTogetherWithAToken() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let ticket = JSONValue.string(try refusedLink(a, b))
        let token = JSONValue.string(app.issuer(.apple).token(subject: b.subject))
        try app.expectUnchanged {
            for provider in [nil, "apple"] as [JSONValue?] {
                for (identityToken, nonce) in [(token, "nonce"), (token, nil), (nil, "nonce"), ("", "")]
                    as [(JSONValue?, JSONValue?)]
                {
                    let answer = send(
                        [
                            "swap_ticket": ticket, "provider": provider, "identity_token": identityToken,
                            "raw_nonce": nonce,
                        ], a)
                    #expect(answer.description == #"400 {"error":"invalid_request"}"#)
                }
            }
        }
        // What is null is absent.
        #expect(send(["swap_ticket": ticket, "identity_token": .null, "raw_nonce": .null], a).status == 200)
    }

    @Test func anUnknownProviderComesFirst() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let ticket = JSONValue.string(try refusedLink(a, b))
        for (ticket, name) in [(ticket, "github"), ("swt_unknown", "github"), (ticket, "")] {
            let answer = send(["swap_ticket": ticket, "provider": .string(name)], a)
            #expect(answer.description == #"422 {"error":"unknown_provider"}"#)
        }
        #expect(send(["swap_ticket": ticket, "provider": 5], a).description == #"400 {"error":"invalid_request"}"#)
    }

    @Test func itIsNotUsedUpByWhatChangesNothing() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let ticket = JSONValue.string(try refusedLink(a, b))
        let changed = scene.client.send(
            .post, "/api/v1/me/anonymous_swap", ["swap_ticket": ticket], token: a.token,
            headers: [("if-match", "other")])
        #expect(changed.status == 412)
        #expect(send(["swap_ticket": ticket, "dry_run": true], a).status == 200)
        #expect(send(["swap_ticket": ticket, "merge_options": 5], a).status == 400)
        #expect(send(["swap_ticket": ticket], a).status == 200)
    }

    /// A ticket names the caller's identity at the provider. The account of that identity is looked up when the ticket
    /// is used.
    @Test func theIdentityIsResolvedAnew() throws {
        let (a, b, c) = (try scene.anonymous(), try scene.identified(), try scene.identified())
        let ticket = JSONValue.string(try refusedLink(a, b))
        try scene.db.execute("DELETE FROM identities WHERE user_id = ?", b.id)
        let gone = send(["swap_ticket": ticket], a)
        #expect(gone.description == #"422 {"error":"identity_does_not_resolve_to_existing_account"}"#)
        try scene.identity(b.subject, of: c.id)
        #expect(send(["swap_ticket": ticket], a)["user"]?["id"]?.integer == c.id)
    }

    @Test func aPromotedCallerNeedsNoSwap() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let ticket = JSONValue.string(try refusedLink(a, b))
        let linked = scene.client.send(
            .post, "/api/v1/me/connected_identities", app.proof("new", of: .google).adding(["provider": "google"]),
            token: a.token)
        #expect(linked.status == 200)
        #expect(send(["swap_ticket": ticket], a).description == #"422 {"error":"non_anonymous_caller"}"#)
    }

    /// In the transaction, the caller is checked first, then the ticket, which was deleted with the caller.
    @Test(arguments: [false, true]) func aCallerThatVanishesMeanwhileIsToldSo(isPromoted: Bool) throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let request = try scene.swapRequest(a, into: b, by: .ticket, key: "key")
        let answer = try scene.send(request) {
            if isPromoted {
                try scene.db.execute("UPDATE users SET anonymous = 0 WHERE id = ?", a.userID)
                try scene.db.execute("DELETE FROM swap_tickets")
            } else {
                try scene.db.execute("DELETE FROM users WHERE id = ?", a.userID)
            }
        }
        let expected = isPromoted ? #"422 {"error":"non_anonymous_caller"}"# : #"401 {"error":"invalid_token"}"#
        #expect(answer.description == expected)
    }
}
