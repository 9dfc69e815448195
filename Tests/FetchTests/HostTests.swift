import Testing

@testable import Fetch

/// Hosts as browsers interpret them (WHATWG URL §3.5).
@Suite struct HostTests {
    @Test(arguments: [
        ("rp.example", "rp.example"), ("RP.Example", "rp.example"), ("rp.example.", "rp.example"), ("a", "a"),
        ("localhost", "localhost"), ("LOCALHOST.", "localhost"), ("rp%2Eexample", "rp.example"),
        ("%72%70.example", "rp.example"), ("%52P.example", "rp.example"), ("rp.example%2e", "rp.example"),
        ("xn--rp-xka.example", "xn--rp-xka.example"), ("XN--RP-XKA.example", "xn--rp-xka.example"),
        ("a_b.example", "a_b.example"), ("-a-.example", "-a-.example"), ("1.example", "1.example"),
        ("127.0.0.1.example", "127.0.0.1.example"), ("0x7f.example", "0x7f.example"), ("1e3", "1e3"),
        ("0xg", "0xg"),
        (String(repeating: "a", count: 63) + ".example", String(repeating: "a", count: 63) + ".example"),
        // IPv4 in every notation
        ("127.0.0.1", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"), ("127%2E0.0.1", "127.0.0.1"),
        ("%31%32%37%2e1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("127.0.1", "127.0.0.1"), ("0x7f.1", "127.0.0.1"),
        ("0X7F.1", "127.0.0.1"), ("2130706433", "127.0.0.1"), ("2130706433.", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"), ("017700000001", "127.0.0.1"),
        ("127.0x0.0.01", "127.0.0.1"), ("0", "0.0.0.0"), ("4294967295", "255.255.255.255"),
        ("10.65535", "10.0.255.255"),
        // IPv6
        ("[::1]", "[::1]"), ("[0:0:0:0:0:0:0:1]", "[::1]"), ("[0000::0001]", "[::1]"),
        ("[2001:DB8:0:0:1::]", "[2001:db8:0:0:1::]"), ("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
        ("[::FFFF:7F00:1]", "[::ffff:127.0.0.1]"),
    ])
    func hasOneForm(_ text: String, _ form: String) {
        #expect(Host(text)?.description == form)
        #expect(Host(text) == Host(form))
    }

    @Test(arguments: [
        "", ".", "..", ".rp.example", "rp..example", "rp.example..", " rp.example", "rp.example ", "rp example",
        "rp.example\t", "rp.exa\nmple", "rp.example\0", "rp.example%00", "rp.example%20", "rp.example%09",
        "rp%2Fexample",
        "rp.example%2F", "rp.example%3A443", "user%40rp.example", "user@rp.example", "rp.example:443", "rp.example/",
        "rp.example\\", "rp.example?", "rp.example#", "rp%.example", "rp%2.example", "rp%zz.example", "rp%+1.example",
        "rp%25.example", "rp<.example", "rp[.example", "rp|.example", "rp^.example", "rp;.example", "rp'.example",
        "*.example", "rp+.example", "rp.exämple", "rp%C3%A4.example", "ｒｐ.example", "rp%EF%BC%8Eexample", "rp。example",
        "rp%C2%AD.example", "①②⑦.0.0.1", "%FF.example", "xn--.example", "xn--localhost-", "xn--rp-.example",
        String(repeating: "a", count: 64) + ".example",
        Array(repeating: String(repeating: "a", count: 50), count: 5).joined(separator: "."),
        "256.0.0.1", "1.2.3.4.5", "1.2.3.08", "4294967296", "0x100000000", "1.2.0x", "a.1", "rp.example.0x7f", "1..2",
        "127.0.0.1..", "[::1", "::1]", "::1", "[]", "[1.2.3.4]", "[::1]x", "[g::1]", "[::1%25eth0]", "[::1%eth0]",
        "[%3A%3A1]", "[::1\0]", "[1:2:3:4:5:6:7:8:9]",
    ])
    func isNone(_ text: String) {
        #expect(Host(text) == nil)
    }

    @Test func anAddressMayBeWrittenAsIPv6() throws {
        let (four, six) = (try #require(Host("127.1")), try #require(Host("[::ffff:7f00:1]")))
        #expect(four != six && four.isSame(as: six) && six.isSame(as: four))
        #expect(try !four.isSame(as: #require(Host("[::127.0.0.1]"))))
        #expect(try !four.isSame(as: #require(Host("localhost"))))
    }

    @Test(arguments: [
        ("localhost", true), ("Localhost.", true), ("127.0.0.1", true), ("127.255.0.1", true), ("2130706433", true),
        ("[::1]", true), ("[::ffff:127.0.0.1]", true), ("126.0.0.1", false), ("[::2]", false), ("[::]", false),
        ("0.0.0.0", false), ("rp.localhost", false), ("localhost.example", false), ("[::127.0.0.1]", false),
    ])
    func isLoopback(_ text: String, _ expected: Bool) {
        #expect(Host(text)?.isLoopback == expected)
    }

    @Test(arguments: [
        ("localhost", true), ("LOCALHOST.", true), ("127.0.0.1", true), ("127.1", true), ("[::1]", true),
        ("[0:0:0:0:0:0:0:1]", true), ("127.0.0.2", false), ("[::ffff:127.0.0.1]", false), ("rp.localhost", false),
        ("0.0.0.0", false), ("rp.example", false),
    ])
    func takesPlainHTTP(_ text: String, _ expected: Bool) {
        #expect(Host(text)?.takesPlainHTTP == expected)
    }

    @Test(arguments: [
        ("https://rp.example:8443/cb?x#y", "https", "rp.example:8443", "/cb?x#y"),
        ("https://rp.example?x", "https", "rp.example", "?x"), ("https://rp.example#y", "https", "rp.example", "#y"),
        ("https://user@rp.example", "https", "user@rp.example", ""), ("https:///cb", "https", "", "/cb"),
        ("https:////rp.example", "https", "", "//rp.example"), ("https:/rp.example", "https", nil, "/rp.example"),
        ("myapp:cb", "myapp", nil, "cb"), (":", "", nil, ""),
        // Of a slash and a mark behind it Swift makes one character.
        ("https://rp.example/\u{301}", "https", "rp.example", "/\u{301}"),
    ])
    func partsAreAsWritten(_ text: String, _ scheme: String, _ authority: String?, _ rest: String) throws {
        let url = try #require(WrittenURL(text))
        #expect(url.scheme == scheme)
        #expect(url.authority.map(String.init) == authority)
        #expect(url.rest == rest)
    }

    @Test func aURLHasAColon() { #expect(WrittenURL("rp.example/cb") == nil) }

    @Test(
        arguments: [
            ("rp.example", "rp.example"), ("RP.example.:443", "rp.example:443"), ("rp.example:0443", "rp.example:443"),
            ("rp.example:0", "rp.example:0"), ("127.1:65535", "127.0.0.1:65535"), ("[0::1]:00080", "[::1]:80"),
            ("rp.example:", nil), ("rp.example:+1", nil), ("rp.example:-1", nil), ("rp.example:65536", nil),
            ("rp.example:1x", nil), ("rp.example: 1", nil), ("rp.example:1:2", nil), (":443", nil), ("", nil),
            ("[::1", nil),
            ("[::1]443", nil), ("a@rp.example", nil), ("rp.example:\u{FF11}", nil),
        ] as [(String, String?)])
    func hasAPort(_ text: String, _ form: String?) {
        #expect(Authority(text)?.description == form)
    }

    @Test(
        arguments: [
            ("https://rp.example/cb", "https rp.example"), ("HTTPS://RP.example", "https rp.example"),
            ("http:rp.example", "http rp.example"), ("https:/rp.example", "https rp.example"),
            ("https:////rp.example//x", "https rp.example"), ("https:\\\\rp.example\\x", "https rp.example"),
            ("  https://rp.example\n", "https rp.example"), ("ht\ttps://rp.\nexample/", "https rp.example"),
            ("https://a@rp.example/", "https rp.example"), ("https://rp.example@127.1/", "https 127.0.0.1"),
            ("https://a@b@rp.example", "https rp.example"), ("https://rp.example\\@evil.example/", "https rp.example"),
            ("https://rp.example:?x", "https rp.example"), ("https://rp.example:0443#x", "https rp.example:443"),
            ("myapp://rp.example", nil), ("javascript://rp.example", nil), ("rp.example", nil), ("https://", nil),
            ("https:///", nil), ("https://rp.exämple/", nil), ("", nil),
        ] as [(String, String?)])
    func isWhereBrowsersGo(_ text: String, _ expected: String?) {
        #expect(Authority.visited(by: text).map { "\($0.scheme) \($0.authority)" } == expected)
    }
}
