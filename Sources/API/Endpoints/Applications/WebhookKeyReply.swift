import Accounts

/// A webhook key with its secret, which is shown once.
struct WebhookKeyReply: Encodable {
    let kid: String
    let secret: String

    init(_ key: WebhookKey) {
        kid = key.keyID
        secret = key.secret
    }
}
