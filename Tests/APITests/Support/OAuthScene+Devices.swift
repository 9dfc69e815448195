import HTTP
import JSON
import Testing

/// A device flow as its device knows it.
struct WaitingDevice: Sendable {
    let code: String
    let userCode: String

    init(_ answer: Answer) throws {
        code = try #require(answer["device_code"]?.string, "\(answer)")
        userCode = try #require(answer["user_code"]?.string, "\(answer)")
    }
}

extension OAuthScene {
    func authorizeDevice(_ rp: TestClient, scope: String? = "openid email") -> Answer {
        post("/oauth/device_authorization", [("scope", scope)], as: rp)
    }

    func device(_ rp: TestClient, scope: String = "openid email") throws -> WaitingDevice {
        try WaitingDevice(authorizeDevice(rp, scope: scope))
    }

    func pollForm(_ code: String) -> [(String, String?)] {
        [("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", code)]
    }

    func poll(_ device: WaitingDevice, by rp: TestClient) -> Answer {
        post("/oauth/token", pollForm(device.code), as: rp)
    }

    func decisionRequest(_ decision: JSONValue?, _ userCode: JSONValue?, as phone: Phone) -> RepeatableRequest {
        RepeatableRequest(
            method: .post, path: "/api/v1/oauth/device",
            body: ([:] as JSONValue).adding(["user_code": userCode, "decision": decision]), token: phone.token)
    }

    func decide(_ decision: String, _ device: WaitingDevice, as phone: Phone) -> Answer {
        client.send(decisionRequest(.string(decision), .string(device.userCode), as: phone))
    }
}
