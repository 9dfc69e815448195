import OpenSSL

/// Which of A's assets move. The others are deleted with A (accounts §1.9, `merge_options`).
package struct SwapSelection: Sendable {
    /// The client ids whose grants move, compared byte for byte; nil for all. Unknown ids are allowed.
    private let clientIDs: Set<[UInt8]>?
    package var agentApprovals: Bool
    package var notifications: Bool

    package init(clientIDs: [String]? = nil, agentApprovals: Bool = true, notifications: Bool = true) {
        self.clientIDs = clientIDs.map { Set($0.map { Array($0.utf8) }) }
        self.agentApprovals = agentApprovals
        self.notifications = notifications
    }

    func selects(clientID: String) -> Bool {
        clientIDs?.contains(Array(clientID.utf8)) ?? true
    }

    /// The digests of the client ids in a fixed order; nil for all.
    var fingerprint: [[UInt8]]? {
        clientIDs.map { $0.map { sha256($0) }.sorted { $0.lexicographicallyPrecedes($1) } }
    }
}
