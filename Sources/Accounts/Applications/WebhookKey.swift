/// What a relying party checks the signatures of events with (accounts §3.4).
package enum WebhookKey {
    /// What its secret is sealed for.
    static func row(_ kid: String) -> [UInt8] { Array("webhook_key:\(kid)".utf8) }
}
