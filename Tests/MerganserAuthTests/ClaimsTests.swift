import Foundation
import MerganserAuth
import Testing

@Suite struct ClaimsTests {
    private func claims(
        _ sub: String, canonical: String? = nil, linked: [String] = [], anonymous: Bool = false
    ) throws -> MerganserClaims {
        let members: [String: Any] = [
            "sub": sub, "canonical_sub": canonical ?? sub, "is_canonical": sub == canonical ?? sub,
            "linked_subs": linked, "anonymous": anonymous, "previously_anonymous": false,
        ]
        return try JSONDecoder().decode(MerganserClaims.self, from: JSONSerialization.data(withJSONObject: members))
    }

    @Test func nothingChanged() throws {
        #expect(try claims("1").changes(since: claims("1")) == [.same])
        #expect(try claims("1").changes(since: nil) == [.same])
        #expect(try claims("1", linked: ["2"]).changes(since: claims("1", linked: ["2"])) == [.same])
    }

    @Test func aGuestIsPromotedInPlace() throws {
        #expect(try claims("1").changes(since: claims("1", anonymous: true)) == [.promoted])
    }

    /// As a swap leaves the guest's own grant.
    @Test func aGuestIsSwappedIntoAnAccount() throws {
        let now = try claims("1", canonical: "7", linked: ["1"])
        #expect(now.effectiveSub == "7")
        #expect(now.changes(since: try claims("1", anonymous: true)) == [.became(canonical: "7"), .promoted])
    }

    /// As a swap leaves a grant that the account had before.
    @Test func aGuestIsSwappedIntoAnAccountThatUsesTheApp() throws {
        let now = try claims("7", linked: ["1"])
        #expect(now.changes(since: try claims("1", anonymous: true)) == [.became(canonical: "7"), .promoted])
    }

    @Test func anAccountAbsorbsOthers() throws {
        #expect(
            try claims("7", linked: ["2", "3"]).changes(since: claims("7", linked: ["2"])) == [.absorbed(["3"])])
        #expect(try claims("7", linked: ["2", "3"]).changes(since: nil) == [.absorbed(["2", "3"])])
    }

    @Test func somebodyElseGetsNothing() throws {
        #expect(try claims("9").changes(since: claims("7")) == [.replaced(by: "9")])
        #expect(try claims("9").changes(since: claims("7", anonymous: true)) == [.replaced(by: "9")])
    }

    @Test func anAccessTokensClaimsAreEnough() throws {
        let claims = try JSONDecoder().decode(MerganserClaims.self, from: Data(#"{"sub":"1"}"#.utf8))
        #expect(claims.effectiveSub == "1" && claims.isCanonical && claims.linkedSubs.isEmpty && !claims.anonymous)
    }
}
