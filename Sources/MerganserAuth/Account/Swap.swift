/// What came of linking a provider (accounts §1.8).
public enum LinkOutcome: Hashable, Sendable {
    /// The provider is linked; a guest has become a known user, with the same id.
    case linked(Account)
    /// It belongs to another account already. `swap` moves the guest's things there, with this ticket.
    case ownedByAnotherAccount(SwapTicket)
}

/// Allows a guest to swap into the account that owns the provider that they just signed in with, for ten minutes.
public struct SwapTicket: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    let secret: String

    public var description: String { "SwapTicket" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What a guest takes along in a swap.
public struct SwapSelection: Hashable, Sendable {
    /// The client_ids of connected apps; nil is all.
    public var applications: [String]?
    /// Whether agents and their requests move.
    public var agentApprovals: Bool
    /// Whether the requests of browsers move.
    public var notifications: Bool

    /// All the guest has.
    public static let everything = SwapSelection()

    /// By default everything.
    public init(applications: [String]? = nil, agentApprovals: Bool = true, notifications: Bool = true) {
        self.applications = applications
        self.agentApprovals = agentApprovals
        self.notifications = notifications
    }
}

/// What a swap moves (accounts §1.9).
public struct SwapSummary: Codable, Hashable, Sendable {
    /// Of one kind.
    public struct Count: Codable, Hashable, Sendable {
        /// What becomes the account's.
        public let transferred: Int
        /// What the other account has, too; its own stays. Absent where that cannot be.
        public let skippedDuplicate: Int?
    }

    /// Connected apps.
    public let rps: Count
    /// Requests of agents.
    public let agentApprovals: Count
    /// Requests of browsers.
    public let notifications: Count
}

/// What a swap would do.
public struct SwapPreview: Decodable, Hashable, Sendable {
    /// A connected app of the guest.
    public struct Application: Decodable, Hashable, Sendable {
        /// What becomes of it. A later server may say more.
        public struct Fate: RawRepresentable, Decodable, Hashable, Sendable {
            /// It moves.
            public static let transferred = Fate(rawValue: "transferred")
            /// The other account has it, too; its own stays.
            public static let skippedDuplicate = Fate(rawValue: "skipped_duplicate")
            /// The user did not choose it; it goes with the guest.
            public static let dropped = Fate(rawValue: "dropped")

            /// The server's word.
            public let rawValue: String

            /// The server's word.
            public init(rawValue: String) { self.rawValue = rawValue }
        }

        /// Its client_id.
        public let clientID: String
        /// As its developer called it.
        public let name: String
        /// What becomes of it.
        public let fate: Fate

        enum CodingKeys: String, CodingKey {
            case clientID = "clientId"
            case name, fate
        }
    }

    /// Names this plan: a swap that is held to it does this or nothing.
    public let plan: String
    /// The account that the guest becomes.
    public let user: Account
    /// How much would move.
    public let merged: SwapSummary
    /// Every connected app of the guest.
    public let rps: [Application]
}

/// What a swap did.
public struct SwapResult: Hashable, Sendable {
    /// The account that the guest became.
    public let account: Account
    /// How much moved.
    public let merged: SwapSummary
}
