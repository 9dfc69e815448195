import MariaDB
package import Time

/// A sign-in in a browser that waits for its person's decision in the app (accounts §4.2).
package struct PushApproval: Sendable {
    package typealias ID = Identifier<PushApproval>

    package enum Status: String, Sendable {
        case pending, approved, denied, expired
    }

    /// Base64url of 16 bytes: of links, notifications and the API.
    package let publicID: String
    package let status: Status
    /// The browser's.
    package let address: String?
    package let userAgent: String?
    /// The name of the application that the sign-in leads to.
    package let application: String?
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    /// Whether it is about somebody: by address, or by whoever scanned its code.
    let isScanned: Bool

    package static let lifetime = Duration.seconds(180)
    /// How long after an approval the browser can still be signed in: as long as it takes to ask a few times.
    static let completionLimit = Duration.seconds(60)
    /// So many wrong numbers deny it.
    static let maximumTries = 3
    /// The most requests of a list.
    static let listed = 20

    /// The identity that the number is sealed for.
    static func row(_ publicID: String) -> [UInt8] { Array("push_approval:\(publicID)".utf8) }
}

/// What a browser began.
package struct StartedPushApproval: Sendable {
    package let publicID: String
    /// Who is to be notified; `nobody` if nobody has the address.
    package let user: User.ID
    package let expiresAt: Timestamp
}

/// How far a request is, as its browser may know.
package enum PushApprovalProgress: Sendable, Equatable {
    /// Nobody has scanned its code.
    case unscanned
    /// - Parameter number: two digits, which the person types in the app.
    case waiting(number: String)
    /// Approved: the browser can be signed in.
    case approved
    /// Denied, expired, or used up.
    case over
}

extension PushApproval {
    /// The columns of a request `r` that `init(from:)` reads.
    static let columns: StaticString = """
        r.public_id, r.status, r.ip, r.user_agent, (SELECT a.name FROM applications a WHERE a.id = r.application_id),
        r.created_at, r.expires_at, r.requested_user_id IS NOT NULL
        """

    init(from row: inout Row, at now: Timestamp) throws(MariaDBError) {
        publicID = try row.read()
        let stored = Status(rawValue: try row.read()) ?? .expired
        address = try row.read()
        userAgent = try row.read()
        application = try row.read()
        createdAt = try row.read()
        let expiresAt = try row.read(Timestamp.self)
        self.expiresAt = expiresAt
        isScanned = try row.read()
        status = stored == .pending && expiresAt <= now ? .expired : stored
    }
}
