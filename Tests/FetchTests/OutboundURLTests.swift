import Testing

@testable import Fetch

/// The addresses to which strangers may make the server send requests (accounts §3.5).
@Suite struct OutboundURLTests {
    private func refusal(_ text: String, inDevelopment: Bool = false) throws -> ForbiddenURL? {
        do throws(ForbiddenURL) {
            _ = try OutboundURL(text, allowsLoopbackHTTP: inDevelopment).resolve(within: .seconds(10))
            return nil
        } catch {
            return error
        }
    }

    private func address(_ text: String) throws -> ForbiddenURL { .address(try #require(IPAddress(text))) }

    // MARK: Addresses

    /// The first and the last address of every block.
    @Test(arguments: [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.0",
        "127.255.255.255", "169.254.0.0", "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.0.0.0",
        "192.0.0.255", "192.0.2.0", "192.0.2.255", "192.88.99.0", "192.88.99.255", "192.168.0.0", "192.168.255.255",
        "198.18.0.0", "198.19.255.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255",
        "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255", "::", "::ffff:ffff", "::1", "::ffff:0:0",
        "::ffff:ffff:ffff", "64:ff9b::", "64:ff9b::ffff:ffff", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        "100::", "100::ffff:ffff:ffff:ffff", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fc00::",
        "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::",
        "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ])
    func isForbidden(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.isForbidden)
        #expect(try refusal(text.contains(":") ? "https://[\(text)]/" : "https://\(text)/") == .address(address))
    }

    /// The addresses next to the blocks, and some well-known ones.
    @Test(arguments: [
        "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0",
        "192.0.1.255", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0",
        "223.255.255.255", "::1:0:0", "::fffe:ffff:ffff", "::1:0:0:0", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff",
        "64:ff9b::1:0:0", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", "64:ff9b:2::",
        "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "100:0:0:1::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:200::", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::",
        "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::",
        "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:80b::200e",
    ])
    func isAllowed(_ text: String) throws {
        let url = text.contains(":") ? "https://[\(text)]/" : "https://\(text)/"
        let address = try #require(IPAddress(text))
        #expect(!address.isForbidden)
        #expect(try OutboundURL(url, allowsLoopbackHTTP: false).resolve(within: .seconds(1)) == [address])
    }

    @Test(arguments: [
        ("2130706433", "127.0.0.1"), ("0x7f000001", "127.0.0.1"), ("0X7F.1", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("127.0.1", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"),
        ("%31%32%37.0.0.1", "127.0.0.1"), ("0", "0.0.0.0"), ("0xa9fea9fe", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"), ("169.16689662", "169.254.169.254"), ("012.1", "10.0.0.1"),
        ("[0:0:0:0:0:0:0:1]", "::1"), ("[::127.0.0.1]", "::7f00:1"), ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
        ("[::ffff:7f00:1]", "::ffff:127.0.0.1"),
        ("[0000:0000:0000:0000:0000:FFFF:A9FE:A9FE]", "::ffff:169.254.169.254"),
        ("[64:ff9b::a00:1]", "64:ff9b::10.0.0.1"), ("[FD00::1]", "fd00::1"), ("[fe80::1%25eth0]", "fe80::1"),
    ])
    func notationsAreJudgedByValue(_ host: String, _ value: String) throws {
        #expect(try refusal("https://\(host)/hook") == address(value))
        #expect(try refusal("https://\(host):8443") == address(value))
    }

    @Test(arguments: [
        "127.0.0.1 ", "1.2.3.4.5", "256.1.1.1", "08.1.1.1", "1.2.3.", "g::1", "::1%eth0", "", "localhost",
    ])
    func isNoAddress(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    // MARK: Names

    @Test(arguments: ["localhost", "LocalHost", "localhost.", "rp.localhost", "a.b.localhost."])
    func thisMachineByItsName(_ host: String) throws {
        #expect(try refusal("https://\(host)/") == address("127.0.0.1"))
    }

    /// A name is refused if any of its addresses is.
    @Test func whatANameResolvesToIsJudged() throws {
        let url = try OutboundURL("https://rp.example/hook", allowsLoopbackHTTP: false)
        let (open, inside) = (try #require(IPAddress("93.184.216.34")), try #require(IPAddress("10.0.0.7")))
        #expect(try url.judge { $0 == "rp.example" ? [open] : [] } == [open])
        #expect(throws: ForbiddenURL.address(inside)) { try url.judge { _ in [open, inside] } }
    }

    @Test func namesAreLookedUp() throws {
        #expect(
            Resolver.addresses(of: "localhost", within: .seconds(10)).contains(try #require(IPAddress("127.0.0.1"))))
    }

    @Test func aNameThatNobodyHasHasNoAddresses() throws {
        let url = try OutboundURL("https://rp.invalid/hook", allowsLoopbackHTTP: false)
        #expect(try url.resolve(within: .seconds(10)) == [])
    }

    // MARK: Form

    @Test(arguments: [
        "https://93.184.216.34", "https://93.184.216.34:8443/hook?a=1&b=+2%20",
        "https://rp.invalid/\(String(repeating: "a", count: 1981))",
        "https://xn--rp-xka.invalid/",
    ])
    func isTaken(_ text: String) throws {
        #expect(try refusal(text) == nil)
        #expect(try OutboundURL(text, allowsLoopbackHTTP: false).text == text)
    }

    @Test(arguments: [
        ("", ForbiddenURL.malformed), ("rp.example", .malformed), ("/hook", .malformed), ("https://", .malformed),
        ("https:///hook", .malformed), ("https:/rp.example/", .malformed), ("https:rp.example", .malformed),
        ("https:////rp.example", .malformed), ("https://rp.example/ hook", .malformed),
        (" https://rp.example/", .malformed),
        ("https://rp.example/\n", .malformed), ("https://rp.example\\@127.0.0.1/", .malformed),
        ("https://rp.example/#", .malformed), ("https://rp.example/#x", .malformed),
        ("https://rp.exämple/", .malformed),
        ("https://①②⑦.0.0.1/", .malformed), ("https://rp.example:65536/", .malformed),
        ("https://rp.example:x/", .malformed),
        ("https://[::1/", .malformed), ("https://[1.2.3.4]/", .malformed), ("https://1.2.3.4.5/", .malformed),
        ("https://256.1.1.1/", .malformed), ("https://08.8.8.8/", .malformed), ("https://1.2.0x/", .malformed),
        ("https://rp..example/", .malformed), ("https://rp%C3%A4.example/", .malformed),
        ("https://xn--localhost-/", .malformed), ("https://rp%2Fexample/", .malformed),
        ("https://rp.example/\(String(repeating: "a", count: 1982))", .malformed),
        ("http://rp.example/", .notHTTPS), ("http://localhost/", .notHTTPS), ("http://127.0.0.1/", .notHTTPS),
        ("ftp://rp.example/", .notHTTPS), ("file://rp.example/etc/passwd", .malformed),
        ("https://user@rp.example/", .userInformation), ("https://user:secret@rp.example/", .userInformation),
        ("https://@rp.example/", .userInformation), ("https://rp.example@127.0.0.1/", .userInformation),
        ("http://localhost@rp.example/", .userInformation),
    ])
    func isRefused(_ text: String, _ reason: ForbiddenURL) throws {
        #expect(try refusal(text) == reason)
    }

    // MARK: Development

    @Test(arguments: ["http://localhost/hook", "http://localhost:3000", "http://127.0.0.1:3000/hook"])
    func developmentReachesThisMachine(_ text: String) throws {
        #expect(try refusal(text, inDevelopment: true) == nil)
    }

    @Test(arguments: [
        ("http://rp.example/", ForbiddenURL.notHTTPS), ("http://127.0.0.2/", .notHTTPS), ("http://127.1/", .notHTTPS),
        ("http://[::1]/", .notHTTPS), ("http://localhost.rp.example/", .notHTTPS), ("http://rp.localhost/", .notHTTPS),
        ("http://localhos%74/", .notHTTPS), ("http://user@localhost/", .userInformation),
    ])
    func developmentReachesNothingElseOverHTTP(_ text: String, _ reason: ForbiddenURL) throws {
        #expect(try refusal(text, inDevelopment: true) == reason)
    }

    @Test(arguments: [
        ("https://10.0.0.1/", "10.0.0.1"), ("https://127.0.0.1/", "127.0.0.1"), ("https://localhost/", "127.0.0.1"),
    ])
    func theExceptionIsForHTTPAlone(_ text: String, _ value: String) throws {
        #expect(try refusal(text, inDevelopment: true) == address(value))
    }
}
