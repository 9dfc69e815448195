import HTTP
import IdentityTokens
import JSON
import TestSupport
import Testing

/// `Golden/replies.txt` has each kind of reply byte for byte, with random parts replaced.
@Suite struct ReplyTests {
    @Test func theRepliesArePinned() throws {
        let app = try TestApp()
        let client = app.client()
        var lines: [String] = []
        @discardableResult func send(
            _ method: Method, _ path: String, _ body: JSONValue? = nil, token: String? = nil
        ) -> Answer {
            let answer = client.send(method, path, body, token: token)
            let unpredictable = /(lpk_live_|ds_|swt_|ltgt_|"plan":")[A-Za-z0-9_-]{43}/
            let reply = answer.description.replacing(unpredictable) { "\($0.output.1)…" }
            lines += ["\(method.rawValue) \(path)", reply, ""]
            return answer
        }

        // An anonymous account on a phone, and on a Mac.
        let device: JSONValue = ["device_uuid": .string(uuid(1)), "platform": "ios"]
        let phone = try Phone(send(.post, "/api/v1/devices", device))
        app.time.advance(by: .seconds(86_400))
        send(.post, "/api/v1/devices", device.adding(["device_secret": .string(phone.secret)]))
        let mac: JSONValue = ["device_id": .string(uuid(2)), "device_platform": "macos"]
        let secret = send(.post, "/api/v1/auth/anonymous_bootstrap", mac)["device_secret"]
        send(.post, "/api/v1/auth/anonymous_bootstrap", mac.adding(["device_secret": secret]))
        send(.get, "/api/v1/me", token: phone.token)
        send(.get, "/api/v1/me/connected_apps", token: phone.token)
        send(.get, "/api/v1/me/connected_identities", token: phone.token)

        // An identified one.
        let proof = app.proof("ada", email: "ada@example.com")
            .adding(["full_name": ["given_name": "길동", "family_name": "홍"]])
        send(.post, "/api/v1/auth/apple/session", proof)
        let tablet = try Phone(
            send(
                .post, "/api/v1/auth/apple/session",
                proof.adding(["device_uuid": .string(uuid(3)), "platform": "android"])))
        send(.patch, "/api/v1/me", ["nickname": "a/b \"c\"", "contact_email": .null], token: tablet.token)
        let google = app.proof("ada", of: .google).adding(["provider": "google"])
        send(.post, "/api/v1/me/connected_identities", google, token: tablet.token)
        send(.delete, "/api/v1/me/connected_identities/apple", token: tablet.token)

        // The one goes into the other.
        let ticket = send(.post, "/api/v1/me/connected_identities", google, token: phone.token)["swap_ticket"]
        let swap: JSONValue = ["swap_ticket": ticket ?? .null]
        send(.post, "/api/v1/me/anonymous_swap", swap.adding(["dry_run": true]), token: phone.token)
        let token = send(.post, "/api/v1/me/anonymous_swap", swap, token: phone.token)["access_token"]?.string

        // Another one, too.
        let other = try Phone(
            send(
                .post, "/api/v1/auth/apple/session",
                app.proof("bea").adding(["device_uuid": .string(uuid(4)), "platform": "ios"])))
        let issued = send(.post, "/api/v1/me/merge/session-token", token: other.token)
        let merge: JSONValue = ["target_session_token": issued["session_token"] ?? .null]
        send(.post, "/api/v1/me/merge", merge.adding(["dry_run": true]), token: token)
        send(.post, "/api/v1/me/merge", merge, token: token)
        send(.delete, "/api/v1/auth/session", token: token)
        send(.delete, "/api/v1/me", token: tablet.token)
        send(.post, "/api/v1/auth/google/session", app.proof("ada", of: .google))
        try expectGolden("replies.txt", lines)
    }
}
