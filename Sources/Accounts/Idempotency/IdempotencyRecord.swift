import OpenSSL
import Time

/// The name under which an answer is kept, so that a request whose answer was lost can be repeated (accounts §0.5).
package struct IdempotencyKey: Sendable {
    /// SHA-256 of the credential the caller presents: the record needs no live credential to be found.
    let caller: [UInt8]
    /// SHA-256 of the header's value, which on bootstrap is a secret.
    let key: [UInt8]
    /// SHA-256 over what makes two requests the same.
    let fingerprint: [UInt8]

    /// How long an answer is kept.
    package static let lifetime = Duration.seconds(600)

    /// - Parameters:
    ///   - credential: what the caller presents, whole.
    ///   - key: 1–255 visible ASCII characters.
    ///   - request: method, path, If-Match and body, each whole.
    package init(credential: [UInt8], key: String, request: [[UInt8]]) {
        caller = sha256(credential)
        self.key = sha256(key.utf8)
        // Each part by its digest, so that no two requests run into the same bytes.
        fingerprint = sha256(Array(request.map(sha256).joined()))
    }

    /// What the stored answer is sealed for.
    var row: [UInt8] { Self.row(caller: caller, key: key) }

    static func row(caller: [UInt8], key: [UInt8]) -> [UInt8] { Array("idempotency_records\n".utf8) + caller + key }
}

/// What the records say about a request before it is run.
package enum IdempotencyLookup: Sendable {
    case unknown
    /// The answer of an earlier copy, as it was stored.
    case answered([UInt8])
    /// The key was used for something else.
    case reused
}

/// How the answer to a request is kept under its key, by the transaction whose effects it reports: no effect exists
/// without its answer.
package struct KeptAnswer<Result> {
    private let key: IdempotencyKey
    private let serverKey: ServerKey
    private let encode: (Result) -> [UInt8]?

    /// - Parameter encode: the answer as it is stored; nil for one that is not kept, whose key is free again.
    package init(
        under key: IdempotencyKey, sealedWith serverKey: ServerKey, _ encode: @escaping (Result) -> [UInt8]?
    ) {
        self.key = key
        self.serverKey = serverKey
        self.encode = encode
    }

    func claim(in transaction: AccountsTransaction) throws { try transaction.claim(key) }

    func keep(_ result: Result, in transaction: AccountsTransaction) throws {
        if let answer = encode(result) {
            try transaction.store(serverKey.seal(answer, for: key.row), under: key)
        } else {
            try transaction.release(key)
        }
    }
}

/// Thrown inside a transaction when another copy of the request has committed meanwhile: roll back, look up, replay.
package struct AlreadyAnswered: Error {}
