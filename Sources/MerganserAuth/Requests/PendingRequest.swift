import Foundation
import MerganserClient

/// A request that changes credentials, written down before it is sent, with everything that makes its repetition the same
/// request to the server (accounts §0.5, §3.8).
///
/// A record has at most one. It goes with the credential that it was made from: whoever replaces or removes the credential
/// removes it in the same write, and an answer is stored only in its place.
struct PendingRequest: Codable, Hashable, Sendable {
    enum Operation: String, Codable, Sendable { case refresh, bootstrap, signIn, link, swap, merge }

    var operation: Operation
    /// Idempotency-Key.
    var key: String
    var path: String
    var bearer: String?
    var ifMatch: String?
    var contentType: String
    var body: Data
    /// Server time.
    var writtenAt: Date

    init(
        _ operation: Operation, _ path: String, bearer: String? = nil, ifMatch: String? = nil, body: Data,
        contentType: String = "application/json", at now: Date
    ) {
        self.operation = operation
        self.path = path
        self.bearer = bearer
        self.ifMatch = ifMatch
        self.contentType = contentType
        self.body = body
        writtenAt = now
        // 43 characters: a bootstrap wants 22 at least.
        key = .random()
    }

    /// Whether the server may have forgotten the answer (accounts §0.5). A refresh is asked again whatever its age: the
    /// server alone knows whether it ever came.
    func isForgotten(at now: Date) -> Bool { operation != .refresh && now.timeIntervalSince(writtenAt) > 600 }
}

extension String {
    /// 256 random bits.
    static func random() -> String { Data.randomBase64URL() }
}
