import HTTP
import Testing

/// Bodies in parts (RFC 7578). No endpoint accepts one, and their parts are not mistaken for anything else.
@Suite struct MultipartTests {
    private static let type = [(name: "content-type", value: "multipart/form-data; boundary=b")]

    private static func body(_ fields: [(String, String?)]) -> [UInt8] {
        Array(
            (fields.map { "--b\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n\($1 ?? "")\r\n" } + [
                "--b--\r\n"
            ])
            .joined().utf8)
    }

    @Test func noFormIsReadFromIt() throws {
        let scene = try OAuthScene()
        let rp = try scene.register()
        let code = try scene.code(rp, as: try scene.person())
        let form = scene.codeForm(code, of: rp) + [("client_id", rp.clientID)]
        // As parts, and as a form inside of one.
        let inside = String(decoding: encoded(form), as: UTF8.self)
        for body in [Self.body(form), Self.body([("a", "&\(inside)&")])] {
            let answer = scene.client.send(.post, "/oauth/token", bytes: body, headers: Self.type)
            #expect(try answer.oauthRefusal() == "400 invalid_request")
        }
        #expect(scene.exchange(code, by: rp).status == 200)
    }

    @Test func noJSONIsReadFromIt() throws {
        let app = try TestApp()
        let client = app.client()
        let accounts = client.send(
            .post, "/api/v1/auth/anonymous_bootstrap",
            bytes: Self.body([("device_id", uuid(1)), ("device_platform", "ios")]),
            headers: Self.type)
        #expect("\(accounts)" == refusal(400, "invalid_request"))

        let scene = try AnalyticsScene(app)
        for body in [Self.body([("anonymous_id", "a"), ("user_id", "b")]), Array(#"{"anonymous_id":"a"}"#.utf8)] {
            let analytics = client.send(
                .post, "/v1/identity/claim", bytes: body, token: scene.clientKey, headers: Self.type)
            #expect(analytics.status == 415)
        }
    }
}
