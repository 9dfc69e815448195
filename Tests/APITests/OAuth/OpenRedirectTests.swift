import Foundation
import HTTP
import Testing

/// No answer leads to an address that is not registered, whatever the request has (accounts §2.2, RFC 9700 §4.1).
@Suite struct OpenRedirectTests {
    static let registered = [
        "https://shop.example/callback", "https://shop.example/cb?tenant=1", "com.example.shop://callback",
        "http://127.0.0.1:3000/cb", "com.example.shop:/oauth2redirect",
    ]

    @Test func onlyWhatIsRegisteredIsEverLedTo() throws {
        let scene = try OAuthScene()
        let rp = try scene.register(redirectURIs: Self.registered)
        let person = try scene.signedIn()
        person.open(scene.authorizePath(rp))
        try person.submit("/oauth/consent", ["decision": "allow"])
        let stranger = TestBrowser(scene.app)
        // A valid request, a refused one and one that may not ask.
        let kinds: [KeyValuePairs<String, String?>] = [[:], ["response_type": "token"], ["prompt": "none"]]
        var asked = 0
        let good = Set(Self.registered.map { Array($0.utf8) })
        let bad = Set(Self.registered.flatMap(variants).map { Array($0.utf8) }).subtracting(good)
        for (number, bytes) in bad.enumerated() {
            let encodings = encodings(of: String(decoding: bytes, as: UTF8.self))
            // Pages take longer to write than to refuse.
            for (browser, kind, encoded, accept) in [
                (person, kinds[0], encodings[0], "text/html"),
                (person, kinds[0], encodings[1 + number % 3], "application/json"),
                (person, kinds[1], encodings[0], "application/json"),
                (stranger, kinds[2], encodings[0], "application/json"),
            ] {
                let path = scene.authorizePath(rp, kind).replacing(/redirect_uri=[^&]*/, with: encoded)
                let answer = browser.send(.get, path, headers: [("accept", accept)])
                #expect(answer.status == 400 && answer.header("Location") == nil, "\(encoded) → \(answer.headers)")
                asked += 1
            }
        }
        #expect(asked > 5000)
        // The same ways lead back where the address is registered.
        for uri in Self.registered {
            for kind in kinds {
                let answer = person.send(
                    .get,
                    scene.authorizePath(rp, kind).replacing(
                        /redirect_uri=[^&]*/, with: "redirect_uri=" + percentEncoded(uri)))
                #expect(answer.status == 302 && answer.header("Location")?.hasPrefix(uri) == true)
            }
        }
        #expect(try scene.app.count("SELECT COUNT(*) FROM authorization_requests WHERE parameters LIKE '%evil%'") == 0)
    }

    /// URIs that a careless comparison considers equal.
    private func variants(of uri: String) -> [String] {
        let colon = uri.firstIndex(of: ":") ?? uri.endIndex
        let (scheme, rest) = (String(uri[..<colon]), String(uri[colon...].dropFirst()))
        let isHierarchical = rest.hasPrefix("//")
        let authority = isHierarchical ? String(rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }) : ""
        let path = isHierarchical ? String(rest.dropFirst(2 + authority.count)) : rest
        func built(_ authority: String, scheme: String = scheme, path: String = path) -> String {
            "\(scheme):\(isHierarchical ? "//" : "")\(authority)\(path)"
        }
        var all = [
            uri.uppercased(), uri.capitalized, scheme.uppercased() + ":" + rest, "https:" + rest, "http:" + rest,
            "javascript:" + rest, "data:" + rest, "//" + rest, rest, "evil.example" + rest, "\(scheme)x:\(rest)",
            "x\(scheme):\(rest)", "\(scheme):/\(rest)", "\(scheme):\\\(rest)", "\(scheme)://evil.example/\(uri)",
            "https://evil.example/?u=\(uri)", "https://evil.example#\(uri)", "javascript:alert(1)//\(uri)",
        ]
        for host in [
            "evil.example", "\(authority).evil.example", "evil.example.\(authority)", "evil\(authority)",
            "\(authority)evil", "\(authority)@evil.example", "\(authority):pass@evil.example",
            "evil.example@\(authority)",
            "\(authority):443", "\(authority):80", "\(authority):3001", "\(authority):", "\(authority).",
            "www.\(authority)", "\(authority)%2eevil.example", "\(authority)%00.evil.example",
            "\(authority)\\.evil.example",
            "\(authority)\\@evil.example", "evil.example\\@\(authority)", "evil.example%5c\(authority)",
            "evil.example%23@\(authority)", "evil.example?\(authority)", "evil.example#\(authority)",
            "evil.example/\(authority)", "evil.example;\(authority)", "evil.example,\(authority)", "[\(authority)]",
            "[::1]", "localhost", "127.1", "0177.0.0.1", "2130706433", authority.replacing("e", with: "\u{435}"),
            authority.replacing("o", with: "\u{43E}"), authority.replacing(".", with: "\u{3002}"),
            authority.replacing("s", with: "\u{17F}"), authority.uppercased(), "\(authority)\u{2024}evil.example",
            "\u{200B}\(authority)", authority + "\u{202E}",
        ] { all.append(built(host)) }
        for tail in [
            "/", "//", "/.", "/..", "/../", "/../../evil", "/%2e%2e/evil", "/..%2fevil", "/..;/evil", "\\",
            "\\..\\evil",
            "?", "?a=1", "&a=1", "?code=1", "&redirect_uri=https://evil.example", "#", "#a", "#/evil", "%23", "%3f",
            ";",
            ";a=1", ",", ".", "..", "%00", "%0a", "%0d%0aLocation:%20https://evil.example", "%20", "%09", "+", "*",
            "%2f",
            "%2F..%2F", "~", "'", "\"", "<script>", "@evil.example", ":8443", "\u{0}", "\t", "\n", "\r\n", " ",
            "\u{301}", "\u{FEFF}", "\u{200D}", "\u{2044}", "\u{FF0F}evil", "evil", ".evil.example", "/evil",
        ] { all += [uri + tail, built(authority, path: tail + path), built(authority, path: tail)] }
        for head in [" ", "\t", "\n", "\u{0}", "\u{FEFF}", "/", "//", "\\\\", "\"", "'", "<", "(", "%20", "%00"] {
            all.append(head + uri)
        }
        for index in uri.indices {
            var shorter = uri
            shorter.remove(at: index)
            all += [shorter, String(uri[..<index])]
            var other = uri
            other.replaceSubrange(index...index, with: "%" + String(uri[index].asciiValue ?? 0, radix: 16))
            all.append(other)
            var swapped = uri
            let character = String(uri[index])
            let flipped = character.lowercased() == character ? character.uppercased() : character.lowercased()
            swapped.replaceSubrange(index...index, with: flipped)
            all.append(swapped)
        }
        return all
    }

    /// The parameter as clients and attackers may send it: once, before or after a valid one, or with its name encoded
    /// differently.
    private func encodings(of uri: String) -> [String] {
        let good = "redirect_uri=" + percentEncoded(Self.registered[0])
        let bad = percentEncoded(uri)
        return [
            "redirect_uri=\(bad)", "redirect_uri=\(bad)&\(good)", "\(good)&redirect_uri=\(bad)",
            "redirect%5Furi=\(bad)&\(good)",
        ]
    }

    private func percentEncoded(_ text: String) -> String {
        String(decoding: encoded([("", text)]).dropFirst(), as: UTF8.self)
    }
}

extension Answer {
    fileprivate var headers: String { response.headers.map { "\($0.name): \($0.value)" }.joined(separator: "; ") }
}
