import OpenSSL

/// Which of A's assets move. What is left out dies with A (accounts §1.9, `merge_options`).
package struct SwapSelection: Sendable {
    /// The client ids whose grants move; nil: all of them. Unknown ids are no error.
    package var clientIDs: [String]?
    package var agentApprovals: Bool
    package var notifications: Bool

    package init(clientIDs: [String]? = nil, agentApprovals: Bool = true, notifications: Bool = true) {
        self.clientIDs = clientIDs
        self.agentApprovals = agentApprovals
        self.notifications = notifications
    }

    func selects(clientID: String) -> Bool {
        guard let clientIDs else { return true }
        // Byte for byte: Swift's `==` takes canonically equivalent strings for equal.
        return clientIDs.contains { $0.utf8.elementsEqual(clientID.utf8) }
    }

    /// The client ids as a set, each as its digest, in a fixed order; nil: all.
    var fingerprint: [[UInt8]]? {
        clientIDs.map { Set($0.map { sha256($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) } }
    }
}
