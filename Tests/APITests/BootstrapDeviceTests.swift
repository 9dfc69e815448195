import HTTP
import JSON
import Testing

@Suite struct BootstrapDeviceTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    @Test func anUnknownDeviceGetsAnAnonymousAccount() throws {
        let answer = client.send(
            .post, "/api/v1/devices", ["device_uuid": "3F2504E0-4F89-11D3-9A0C-0305E82C3301", "platform": "ios"])
        #expect(answer.status == 200)
        let me = client.send(.get, "/api/v1/me", token: answer["access_token"]?.string)
        #expect(me.status == 200)
        #expect(me["user"]?["anonymous"] == true)
    }
}
