import API
import HTTP
import Testing

/// Which links open in the server's own apps (accounts §2.12).
@Suite struct AssociationTests {
    private static let apple = "/.well-known/apple-app-site-association"
    private static let android = "/.well-known/assetlinks.json"

    @Test func theFilesAreBuiltFromTheConfiguration() throws {
        let apps = OwnApps(
            appleAppIDs: ["A1B2C3D4E5.com.example.app", "A1B2C3D4E5.com.example.app.beta"],
            android: .init(packageName: "com.example.app", certificateFingerprints: ["14:6D", "AB:CD"]))
        let client = try TestApp(ownApps: apps).client()
        let aasa = client.send(.get, Self.apple)
        #expect(
            "\(aasa)"
                == #"200 {"applinks":{"details":[{"appIDs":["A1B2C3D4E5.com.example.app","#
                + #""A1B2C3D4E5.com.example.app.beta"],"components":[{"/":"/oauth/authorize"},{"/":"/oauth/device"},"#
                + #"{"/":"/oauth/qr/*"},{"/":"/push/*"}]}]}}"#)
        let links = client.send(.get, Self.android)
        #expect(
            "\(links)"
                == #"200 [{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app","#
                + #""package_name":"com.example.app","sha256_cert_fingerprints":["14:6D","AB:CD"]}}]"#)
        for answer in [aasa, links] {
            #expect(answer.header("Content-Type") == "application/json")
            #expect(answer.header("Cache-Control") == "public, max-age=3600")
        }
    }

    @Test func unconfiguredOnesAreNotThere() throws {
        let client = try TestApp().client()
        for path in [Self.apple, Self.android] {
            #expect("\(client.send(.get, path))" == refusal(404, "not_found"))
            #expect("\(client.send(.post, path))" == refusal(405, "method_not_allowed"))
        }
        let android = try TestApp(ownApps: OwnApps(android: .init(packageName: "a.b", certificateFingerprints: ["A"])))
        #expect(android.client().send(.get, Self.apple).status == 404)
        #expect(android.client().send(.get, Self.android).status == 200)
    }
}
