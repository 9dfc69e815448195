import Testing
import Time

@testable import Accounts

/// Values that Python's `hmac` and `base64` computed.
@Suite struct WebhookSignatureTests {
    private static let payload = Array(
        #"{"data":{},"event_id":"evt_01HZY3V8Q00000000000000000","event_type":"webhook.test","occurred_at":"2026-05-27T09:14:22Z"}"#
            .utf8)
    private static let first = WebhookKey(
        keyID: "whk_2026q2_01", secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
    private static let second = WebhookKey(
        keyID: "whk_2026q2_02", secret: "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=")
    /// Of the time before secrets were in standard base64.
    private static let old = WebhookKey(
        keyID: "whk_2025q4_03", secret: "whsec_" + String(repeating: "_", count: 42) + "8")

    private func headers(_ keys: [WebhookKey]) -> [String: String]? {
        let signature = WebhookSignature(
            of: Self.payload, eventID: "evt_01HZY3V8Q00000000000000000", at: Timestamp(seconds: 1_779_873_262), keys)
        return signature.map { Dictionary(uniqueKeysWithValues: $0.headers) }
    }

    private static let standard = [
        "webhook-id": "evt_01HZY3V8Q00000000000000000", "webhook-timestamp": "1779873262",
    ]

    private func expected(_ kid: String, _ mac: String, _ signature: String?) -> [String: String] {
        let own = ["X-Logi-Signature": "t=1779873262,kid=\(kid),v1=\(mac)"]
        guard let signature else { return own }
        return own.merging(Self.standard) { $1 }.merging(["webhook-signature": signature]) { $1 }
    }

    private static let signature = "v1,3JtX2l/0hKf+NAW/NtdYRg89MWQ+v2Bj5otsRpReXj8="
    private static let secondSignature = "v1,ale5ZRmA3yjj3FL+pR+bKHrvqO8rBHt6Rxu57KprfvE="
    private static let mac = "132099cbd5996eb9a351e0bddb05515f1f889a774bd57aaaf83e100c7e9aec63"
    private static let secondMAC = "4ee4bef1f8e1159c4bd4a7e0268dc188d4fe3a8b0fc60601dd192784fec7d9ef"
    private static let oldMAC = "6bac626288af56cbeb7b9f313e0d55714ec636f59c817db19bbb1afcbc07ea45"

    @Test func bothHeadersOfOneKey() {
        #expect(headers([Self.first]) == expected("whk_2026q2_01", Self.mac, Self.signature))
    }

    @Test func theNewestSignsTheBodyAndEveryKeyTheMessage() {
        #expect(
            headers([Self.second, Self.first])
                == expected("whk_2026q2_02", Self.secondMAC, "\(Self.secondSignature) \(Self.signature)"))
    }

    /// Libraries would decode such a secret to other bytes, or not at all.
    @Test func anOlderSecretSignsInOurHeaderOnly() {
        #expect(headers([Self.old]) == expected("whk_2025q4_03", Self.oldMAC, nil))
        #expect(headers([Self.old, Self.first]) == expected("whk_2025q4_03", Self.oldMAC, Self.signature))
    }

    @Test func nothingIsSignedWithoutAKey() { #expect(headers([]) == nil) }
}
