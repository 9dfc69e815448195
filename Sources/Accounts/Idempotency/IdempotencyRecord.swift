import OpenSSL

/// The key under which an answer is stored, so that a request whose answer was lost can be repeated (accounts §0.5).
package struct IdempotencyKey: Sendable {
    /// SHA-256 of the caller's credential. The record can be found even if the credential is not valid any more.
    let caller: [UInt8]
    /// SHA-256 of the header's value, which is a secret on bootstrap.
    let key: [UInt8]
    /// SHA-256 of everything that must be equal in a repeated request.
    let fingerprint: [UInt8]

    /// How long an answer is kept.
    package static let lifetime = Duration.seconds(600)

    /// - Parameters:
    ///   - credential: the caller's whole credential.
    ///   - key: 1–255 visible ASCII characters.
    ///   - request: the whole method, path, If-Match and body.
    package init(credential: [UInt8], key: String, request: [[UInt8]]) {
        caller = sha256(credential)
        self.key = sha256(key.utf8)
        // Each part is hashed first, so that two different requests cannot concatenate to the same bytes.
        fingerprint = sha256(Array(request.map(sha256).joined()))
    }

    /// Whether the text is a key: visible ASCII characters, at most 255.
    package static func isKey(_ text: String, ofAtLeast minimum: Int = 1) -> Bool {
        (minimum...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The identity that the stored answer is sealed for.
    var row: [UInt8] { Self.row(caller: caller, key: key) }

    static func row(caller: [UInt8], key: [UInt8]) -> [UInt8] { Array("idempotency_records\n".utf8) + caller + key }
}

/// What the records say about a request before it runs.
package enum IdempotencyLookup: Sendable {
    case unknown
    /// The stored answer of an earlier copy.
    case answered([UInt8])
    /// The key was used for another request.
    case reused
}

/// Stores the answer to a request under its key, in the transaction whose effects it reports. So no effect is committed
/// without its answer.
package struct KeptAnswer<Result> {
    private let key: IdempotencyKey
    private let serverKey: ServerKey
    private let encode: (Result) -> [UInt8]?

    /// - Parameter encode: returns the answer in its stored form, or nil for an answer that is not kept; the key is
    ///   then free again.
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

/// Thrown inside a transaction if another copy of the request has committed: roll back, look the answer up, and send it
/// again.
package struct AlreadyAnswered: Error {}
