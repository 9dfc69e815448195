import IdentityTokens
import Testing
import Time

@testable import Accounts

@Suite struct EmailAddressTests {
    // MARK: Synthetic domains (accounts §0.6)

    @Test(arguments: [
        "a@device.internal", "a@x.y.internal", "a@Device.INTERNAL", "a@device.internal.", "a@internal",
        "@internal", "a@internal.", "a@b@c.internal", "a@\u{600}.internal", "a@\u{301}.internal",
    ])
    func syntheticAddressesAreAbsent(_ address: String) {
        #expect(EmailAddress.present(address) == nil)
        #expect(!EmailAddress.isAcceptable(address))
    }

    @Test(arguments: [
        "a@example.com", "a@internal.example.com", "a@notinternal", "device.internal", "a@x.internal.org", "internal",
        ".", "a@", "a@.", "a.internal@", "a@x.internal@y", "a@x.internal..", "a@xinternal", "a@x.internals",
        "a@x.internal.b",
    ])
    func othersArePresent(_ address: String) { #expect(EmailAddress.present(address) == address) }

    @Test func noAddressIsNone() {
        #expect(EmailAddress.present(nil) == nil && EmailAddress.present("") == nil)
        let longest = String(repeating: "a", count: 242) + "@example.com"
        #expect(EmailAddress.present(longest) == longest)
        #expect(EmailAddress.present("a" + longest) == nil)
    }

    // MARK: What a person may type (accounts §1.7)

    @Test(arguments: [
        "a@example.com", "Ada.Lovelace+x@Example.CO.uk", "!#$%&'*+-/=?^_`{|}~@example.com", "1@1.example", "홍길동@예시.한국",
        "zoë@exämple.com", "a@xn--bcher-kva.example", "a@a-b.c0", "हिन्दी@उदाहरण.भारत",
    ])
    func acceptable(_ address: String) { #expect(EmailAddress.isAcceptable(address)) }

    @Test(arguments: [
        "", "a", "a@", "@example.com", "a@example", "a@.com", "a@example.", "a@example..com", "a@-example.com",
        "a@example-.com", ".a@example.com", "a.@example.com", "a..b@example.com", "a b@example.com", "a@exa mple.com",
        "a@b@example.com", "\"a\"@example.com", "a@[192.0.2.1]", "<a@example.com>", "Ada <a@example.com>",
        "a@example.com\n",
        " a@example.com", "a@example.com,b@example.com", "a(x)@example.com", "a\u{0}@example.com",
        "a\u{202E}@example.com",
        "a@exa_mple.com", "a@example.com/x", ".\u{301}a@example.com", "a@\u{301}example.com", "a@\u{FFFD}.com",
    ])
    func notAcceptable(_ address: String) { #expect(!EmailAddress.isAcceptable(address)) }

    @Test func partsHaveTheirLengths() {
        let (local, label) = (String(repeating: "a", count: 64), String(repeating: "b", count: 63))
        #expect(EmailAddress.isAcceptable("\(local)@\(label).com"))
        #expect(!EmailAddress.isAcceptable("\(local)a@\(label).com"))
        #expect(!EmailAddress.isAcceptable("\(local)@\(label)b.com"))
    }

    // MARK: Whose word counts (accounts §1.6)

    @Test(arguments: [
        (Provider.google, "a@gmail.com", nil, true), (.google, "a@GoogleMail.com", nil, true),
        (.google, "a@example.com", nil, false), (.google, "a@example.com", "example.com", true),
        (.google, "a@Example.com", "EXAMPLE.com", true), (.google, "a@sub.example.com", "example.com", false),
        (.google, "a@example.com", "", false), (.google, "a@icloud.com", nil, false),
        (.google, "gmail.com", nil, false),
        (.google, "a@gmail.com@example.com", nil, false), (.apple, "a@icloud.com", nil, true),
        (.apple, "a@me.com", nil, true), (.apple, "a@MAC.com", nil, true),
        (.apple, "a@privaterelay.appleid.com", nil, true), (.apple, "a@appleid.com", nil, false),
        (.apple, "a@gmail.com", nil, false), (.apple, "a@example.com", "example.com", false),
        // Byte for byte but for ASCII letters.
        (.google, "a@bücher.example", "bücher.example", true),
        (.google, "a@bücher.example", "bu\u{308}cher.example", false),
        (.google, "a@bücher.example", "BÜCHER.example", false), (.google, "a@\u{212A}or.example", "kor.example", false),
        (.google, "a@\u{212A}or.example", "Kor.example", false), (.apple, "a@\u{301}icloud.com", nil, false),
    ])
    func authority(_ provider: Provider, _ address: String, _ hostedDomain: String?, _ isAuthoritative: Bool) {
        let token = IdentityToken(
            provider: provider, subject: "s", email: address, emailVerified: true, hostedDomain: hostedDomain,
            issuedAt: Timestamp(seconds: 0))
        #expect(EmailAddress.isAuthoritative(token, for: address) == isAuthoritative)
    }
}
