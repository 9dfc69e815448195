import Accounts
import Testing

@Suite struct RedirectURITests {
    @Test(arguments: [
        "https://rp.example", "https://rp.example/cb?x=1;y=%20", "https://rp.example:8443/cb", "https://RP.example/cb",
        "https://sub.id.example.com/cb", "https://id.example.com.evil.example/cb", "https://[2001:db8::1]/cb",
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
    ])
    func isRefused(_ text: String, _ reason: InvalidRedirectURI.Reason) {
        let refusal = #expect(throws: InvalidRedirectURI.self) {
            try RedirectURI(text, issuerHost: "id.example.com")
        }
        #expect(refusal?.reason == reason)
    }
}
