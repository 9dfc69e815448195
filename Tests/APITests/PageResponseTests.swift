import HTTP
import Pages
import Testing

@testable import API

/// The header fields of accounts §2.4, and the files that pages refer to.
@Suite struct PageResponseTests {
    @Test func everyPageHasTheseFields() {
        let response = Response.page(SignedOutPage(), in: .korean)
        #expect(
            response.headers.map { "\($0.name): \($0.value)" } == [
                "Content-Type: text/html; charset=utf-8", "Content-Language: ko",
                "Content-Security-Policy: default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; "
                    + "base-uri 'none'; form-action 'self'",
                "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff", "Cache-Control: no-store",
            ])
    }

    @Test(arguments: [
        ("https://acme.example/cb?x=1", "https://acme.example", "acme.example", false),
        ("https://acme.example:8443?x=1", "https://acme.example:8443", "acme.example:8443", false),
        ("https://acme.example", "https://acme.example", "acme.example", false),
        ("http://localhost:3000/", "http://localhost:3000", "localhost:3000", false),
        ("http://[::1]:3000/cb", "http:", "[::1]:3000", false),
        ("https://a;script-src/cb", "https:", "a;script-src", false),
        ("https://a,b/cb", "https:", "a,b", false),
        ("https://a'unsafe-inline'/cb", "https:", "a'unsafe-inline'", false),
        ("myapp://callback", "myapp:", "myapp", true),
        ("com.example.my-app:/cb", "com.example.my-app:", "com.example.my-app", true),
    ])
    func formsMayLeadToTheRedirectURI(_ uri: String, _ source: String, _ name: String, _ isApp: Bool) {
        let target = FormTarget(redirectURI: uri)
        #expect(target.source == source)
        #expect(target.name == name)
        #expect(target.isApp == isApp)
        let policy = Response.page(SignedOutPage(), in: .english, formTarget: target).header("Content-Security-Policy")
        #expect(policy?.hasSuffix("; form-action 'self' \(source)") == true)
    }

    @Test(arguments: [StyleSheet.asset, Drawing.icon])
    func filesAreKeptByTheirContents(_ asset: Asset) throws {
        let query = try #require(asset.link.split(separator: "?").last)
        let current = Response.asset(asset, query: String(query))
        #expect(current.header("Cache-Control") == "public, max-age=31536000, immutable")
        // An instance that is being replaced has other contents under the same path.
        let other = Response.asset(asset, query: "v=0000000000000000")
        #expect(other.header("Cache-Control") == "no-cache")
        #expect(other.body == current.body)
        #expect(Asset(path: asset.path, mediaType: asset.mediaType, "x").link != asset.link)
    }

    @Test func theBrandIsServed() throws {
        let drawing = Array("<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"M0 0h1\"/></svg>".utf8)
        let brand = Brand(
            name: "Pond", logo: try BrandLogo(drawing),
            accent: try AccentColors(light: try #require(Color("#7a1fa2")), dark: nil),
            support: "https://pond.example/help")
        let client = try TestApp(brand: brand).client()
        let page = client.send(.get, "/session/logout", headers: [("accept", "text/html")])
        #expect(page.text.contains("<span>Pond</span>") && page.text.contains("https://pond.example/help"))
        let logo = client.send(.get, "/oauth/logo")
        #expect(logo.response.body == drawing && logo.header("Content-Type") == "image/svg+xml")
        #expect(logo.header("Content-Security-Policy")?.contains("sandbox") == true)
        #expect(client.send(.get, "/oauth/style.css").text.contains("#7a1fa2"))
        #expect(try TestApp().client().send(.get, "/oauth/logo").status == 404)
    }

    /// The console, the account page and devices have none to go back to.
    @Test(arguments: [
        ("/oauth/authorize", true), ("/oauth/logout", true), ("/oauth/login", false), ("/oauth/device", false),
        ("/oauth/consent", false), ("/session/logout", false), ("/account", false), ("/account/agents", false),
        ("/admin/merges", false), ("/auth/apple/web/start", false),
    ])
    func onlyWhomAnAppSentIsSentBackToIt(path: String, isFromApp: Bool) throws {
        // Two of them are refused everywhere.
        let headers = [("accept", "text/html"), ("authorization", "Bearer x"), ("authorization", "Bearer y")]
        let page = try TestApp().client().send(.get, path, headers: headers)
        #expect(page.status == 400, "\(page)")
        #expect(page.text.contains("Go back to the app") == isFromApp, "\(page.text)")
    }

    @Test func pagesAndTheirFilesAreServed() throws {
        let app = try TestApp()
        let client = app.client()
        let page = client.send(.get, "/oauth/errors", headers: [("accept-language", "ko")])
        #expect(page.status == 200)
        #expect(page.header("Content-Language") == "ko")
        let links = page.text.matches(of: #/<link [^>]*href="([^"]+)"/#).map { String($0.1) }
        #expect(links.count == 2)
        for link in links {
            let file = client.send(.get, link)
            #expect(file.status == 200)
            #expect(file.header("Cache-Control") == "public, max-age=31536000, immutable")
        }
    }
}
