/// What proves that another account is the same user's (accounts §3.1).
public struct MergeProof: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    enum Kind: Hashable, Sendable {
        case token(String)
        case code(String, email: String)
    }

    let kind: Kind

    /// What `AccountSession.mergeToken` gave in the other account.
    public static func token(_ token: String) -> MergeProof { MergeProof(kind: .token(token)) }
    /// The code that was sent to the other account's address.
    public static func code(_ code: String, sentTo email: String) -> MergeProof {
        MergeProof(kind: .code(code, email: email))
    }

    public var description: String { "MergeProof" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What a merge would do.
public struct MergePreview: Decodable, Hashable, Sendable {
    /// How much of the other account becomes this user's.
    public struct Moves: Decodable, Hashable, Sendable {
        /// Ways to sign in.
        public let identities: Int
        /// Connected apps, those that were disconnected among them.
        public let grants: Int
        /// Phones and other devices.
        public let devices: Int
        /// Agents that may ask for approval.
        public let agents: Int
        /// What they asked.
        public let agentApprovals: Int
        /// Sign-ins in browsers that were asked about.
        public let notifications: Int
    }

    /// Names this plan: a merge that is held to it does this or nothing.
    public let plan: String
    /// How much would move.
    public let moves: Moves
}

/// A merge that was made.
public struct MergeResult: Decodable, Hashable, Sendable {
    /// The user who stays.
    public let primaryUserID: Int
    /// The user who was absorbed.
    public let linkedUserID: Int

    enum CodingKeys: String, CodingKey {
        case primaryUserID = "primaryUserId"
        case linkedUserID = "linkedUserId"
    }
}
