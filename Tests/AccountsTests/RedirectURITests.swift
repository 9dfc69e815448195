import Accounts
import Testing

@Suite struct RedirectURITests {
    @Test(arguments: [
        "https://rp.example", "https://rp.example/cb?x=1;y=%20", "https://rp.example:8443/cb", "https://RP.example/cb",
        "https://sub.id.example.com/cb", "https://id.example.com.evil.example/cb", "https://[2001:db8::1]/cb",
        "http://localhost./cb", "http://127.1/cb", "http://[0:0:0:0:0:0:0:1]/cb",
        "https://id_1.example.com/cb", "https://id.example.com.evil/", "https://xn--id-xka.example.com/cb",
        "http://localhost/cb", "http://LOCALHOST:3000/cb", "http://127.0.0.1:49152/cb", "http://[::1]:3000/cb",
        "myapp:/cb", "myapp://cb", "com.example.my-app2:/cb", "x:cb",
        "https://rp.example/" + String(repeating: "a", count: 1981),
    ])
    func isTaken(_ text: String) throws {
        #expect(try RedirectURI(text, issuerHost: "id.example.com").description == text)
    }

    @Test(arguments: [
        ("my_app://cb", InvalidRedirectURI.Reason.schemeUnderscore),
        ("javascript:alert(1)", .schemeForbidden), ("data:text/html,x", .schemeForbidden),
        ("file:///etc/passwd", .schemeForbidden), ("blob:https://rp.example/1", .schemeForbidden),
        ("about:blank", .schemeForbidden), ("vbscript:x", .schemeForbidden), ("ws://rp.example", .schemeForbidden),
        ("wss://rp.example", .schemeForbidden), ("ftp://rp.example", .schemeForbidden),
        ("mailto:a@rp.example", .schemeForbidden), ("tel:1", .schemeForbidden), ("sms:1", .schemeForbidden),
        ("intent://cb", .schemeForbidden), ("HTTPS://rp.example", .schemeForbidden), ("MyApp://cb", .schemeForbidden),
        ("1app://cb", .schemeForbidden), ("rp.example/cb", .schemeForbidden), ("://cb", .schemeForbidden),
        ("", .schemeForbidden),
        ("http://rp.example/cb", .plainHTTP), ("http://127.0.0.2/cb", .plainHTTP),
        ("http://localhost.rp.example/cb", .plainHTTP), ("http://127.0.0.1.rp.example/", .plainHTTP),
        ("https://rp.example/cb#", .fragment), ("myapp://cb#x", .fragment),
        ("https://user@rp.example/cb", .userinfo), ("https://rp.example@evil.example/cb", .userinfo),
        ("http://localhost:x@evil.example/", .userinfo), ("myapp://user@cb", .userinfo),
        ("https://rp.example/a b", .characters), ("https://rp.example/a+b", .characters),
        ("https://rp.example/?a=1&b=2", .characters), ("https://*.rp.example/cb", .characters),
        ("https://rp.example/\u{0}", .characters), ("https://rp.example/\n", .characters),
        ("https://rp.exämple/cb", .characters), ("https://rp.example\\@evil.example/", .characters),
        ("https:///cb", .characters), ("https:cb", .characters), ("https://rp.example:port/", .characters),
        ("https://rp.example:65536/", .characters), ("https://[::1/cb", .characters),
        ("https://rp.example/" + String(repeating: "a", count: 1982), .characters),
        ("https://id.example.com/cb", .idpHost), ("https://ID.example.com:8443/cb", .idpHost),
        ("https://id.example.com./cb", .idpHost), ("https://id%2Eexample.com/cb", .idpHost),
        ("https://%69d.example.com:443/cb", .idpHost), ("https://id.example.com:0443/cb", .idpHost),
        ("https://ID%2eEXAMPLE%2ECOM%2e:00443?x", .idpHost),
        // What browsers make the host of before they look at it.
        ("https://id%EF%BC%8Eexample.com/cb", .characters), ("https://%C4%B0d.example.com/cb", .characters),
        ("https://id%C2%AD.example.com/cb", .characters), ("https://xn--id-.example.com/cb", .characters),
        ("https://id..example.com/cb", .characters), ("https://.id.example.com/cb", .characters),
        ("https://id.example.com../cb", .characters), ("https://id.example.com%00/cb", .characters),
        ("https://id.example.com%2F/cb", .characters), ("https://id.example.com%40evil.example/", .characters),
        ("https://id.example.com%/cb", .characters), ("https://id.example.com:/cb", .characters),
        ("https://rp.example:-1/", .characters), ("https://1.2.3.256/cb", .characters),
        ("https://[::1]x/", .characters), ("https://[fe80::1%25eth0]/", .characters),
        ("http://127.0.0.1.rp.example./", .plainHTTP), ("http://0x7f.2/", .plainHTTP),
        ("http://[::ffff:127.0.0.1]/", .plainHTTP), ("http://localhost.localdomain/", .plainHTTP),
    ])
    func isRefused(_ text: String, _ reason: InvalidRedirectURI.Reason) {
        let refusal = #expect(throws: InvalidRedirectURI.self) {
            try RedirectURI(text, issuerHost: "id.example.com")
        }
        #expect(refusal?.reason == reason)
    }

    /// This server on an address, in every notation of it.
    @Test(arguments: [
        "127.0.0.1", "127.0.0.1.", "127%2E0.0.1", "127.1", "127.0.1", "2130706433", "0x7f.1", "0X7F000001",
        "0177.0.0.1",
        "017700000001", "%31%32%37.1", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]",
    ])
    func isRefusedInEveryNotation(_ host: String) {
        for port in ["", ":443", ":0443", ":8443"] {
            let refusal = #expect(throws: InvalidRedirectURI.self) {
                try RedirectURI("https://\(host)\(port)/cb", issuerHost: "127.0.0.1")
            }
            #expect(refusal?.reason == .idpHost)
        }
    }
}
