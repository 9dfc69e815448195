public import Foundation
import MerganserClient

// MARK: Agents

extension AccountSession {
    /// What agents ask the user to approve, newest first (accounts §4.1).
    ///
    /// - Parameters:
    ///   - status: only these; nil is all.
    ///   - cursor: `nextCursor` of the page before.
    ///   - limit: how many at most; the server gives no more than 200.
    public func approvals(
        _ status: AgentApproval.Status? = nil, before cursor: String? = nil, limit: Int = 50
    ) async throws -> AgentApprovals {
        let query = formEncoded(
            [("limit", "\(limit)")] + (status.map { [("status", $0.rawValue)] } ?? [])
                + (cursor.map { [("before", $0)] } ?? []))
        return try await ask(Call("GET", "/api/v1/me/agent_approvals?\(query)")).decoded(AgentApprovals.self)
    }

    /// One of them, by the id that a notification names.
    ///
    /// - Throws: besides, `server` with `approval_not_found`.
    public func approval(_ id: String) async throws -> AgentApproval {
        try await ask(Call("GET", "/api/v1/me/agent_approvals/\(id.percentEncoded)")).decoded(AgentApproval.self)
    }

    /// Approves what an agent asks for, exactly as it was shown.
    ///
    /// - Parameters:
    ///   - approval: what the user saw.
    ///   - numberMatch: the number that the agent shows.
    /// - Throws: besides, `server` with `number_mismatch` (the third time the request is rejected), `already_decided`,
    ///   `approval_expired`, `payload_changed`.
    @discardableResult
    public func approve(_ approval: AgentApproval, numberMatch: String) async throws -> AgentApproval {
        try await decide(approval, AgentDecision(approval, "approved", numberMatch))
    }

    /// Rejects what an agent asks for.
    ///
    /// - Throws: besides, `server` with `already_decided`, `approval_expired`, `payload_changed`.
    @discardableResult
    public func reject(_ approval: AgentApproval) async throws -> AgentApproval {
        try await decide(approval, AgentDecision(approval, "rejected", nil))
    }

    private func decide(_ approval: AgentApproval, _ decision: AgentDecision) async throws -> AgentApproval {
        let path = "/api/v1/me/agent_approvals/\(approval.id.percentEncoded)/decide"
        return try await ask(Call("POST", path).json(decision)).decoded(AgentApproval.self)
    }
}

/// What an agent asks the user to approve.
public struct AgentApproval: Decodable, Hashable, Sendable {
    /// A later server may know more.
    public struct Status: RawRepresentable, Decodable, Hashable, Sendable {
        /// Waits for the user.
        public static let pending = Status(rawValue: "pending")
        /// The user approved it.
        public static let approved = Status(rawValue: "approved")
        /// The user rejected it, or gave a wrong number three times.
        public static let rejected = Status(rawValue: "rejected")
        /// Nobody decided in time.
        public static let expired = Status(rawValue: "expired")
        /// The agent withdrew it, or lost its right to ask.
        public static let cancelled = Status(rawValue: "cancelled")

        /// The server's word.
        public let rawValue: String

        /// The server's word.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Names it in notifications and to `approval(_:)`.
    public let id: String
    /// What has become of it.
    public let status: Status
    /// Which agent asks.
    public let agentID: String
    /// As the user called the agent.
    public let agentName: String
    /// `codex`, `claude`, `cursor` or `custom`.
    public let agentType: String
    /// What the agent wants to do, such as `shell.exec`.
    public let actionType: String
    /// In one line.
    public let title: String
    /// In full; it may have several lines.
    public let body: String
    /// Further facts that the agent gave, to be shown with title and body. nil if the server cannot open them any more;
    /// then it refuses every decision with `payload_changed`.
    public let context: [String: ContextValue]?
    /// What the user approves, exactly: a decision about something else is refused.
    public let displayPayloadHash: String
    /// When the agent asked.
    public let createdAt: Date
    /// Until when it can be decided.
    public let expiresAt: Date?
    /// When it was decided; nil while it waits.
    public let decidedAt: Date?

    enum CodingKeys: String, CodingKey {
        case agentID = "agentId"
        case id, status, agentName, agentType, actionType, title, body, context, displayPayloadHash
        case createdAt, expiresAt, decidedAt
    }
}

/// A page of approvals.
public struct AgentApprovals: Decodable, Hashable, Sendable {
    /// Newest first.
    public let agentApprovals: [AgentApproval]
    /// nil on the last page.
    public let nextCursor: String?
}

private struct AgentDecision: Encodable {
    let decision: String
    let numberMatch: String?
    let displayPayloadHash: String

    init(_ approval: AgentApproval, _ decision: String, _ numberMatch: String?) {
        self.decision = decision
        self.numberMatch = numberMatch
        displayPayloadHash = approval.displayPayloadHash
    }
}

// MARK: Sign-ins in a browser

extension AccountSession {
    /// The latest sign-ins in a browser that ask for the user's approval, newest first (accounts §4.2).
    public func pushApprovals() async throws -> [PushApproval] {
        try await ask(Call("GET", "/api/v1/me/push_approvals")).decoded(PushApprovalsReply.self).pushApprovals
    }

    /// What the code that a browser shows stands for. It changes nothing.
    ///
    /// - Parameter code: the URL in the code.
    /// - Throws: besides, `server` with `not_found`: the code is of another server, is too old, or somebody else has scanned
    ///   it.
    public func preview(code: URL) async throws -> PushApproval {
        try await ask(Call("GET", "/api/v1/oauth/qr/\(try codeID(code))")).decoded(PushApproval.self)
    }

    /// Takes a code: nobody but this user can approve the sign-in from now on, and the browser shows a number.
    ///
    /// - Throws: as `preview(code:)`.
    public func scan(_ code: URL) async throws -> PushApproval {
        let call = Call("POST", "/api/v1/oauth/qr/\(try codeID(code))/scan", isRepeatable: true)
        return try await ask(call).decoded(PushApproval.self)
    }

    /// Signs the browser in.
    ///
    /// - Parameters:
    ///   - approval: what the user saw.
    ///   - numberMatch: the number that the browser shows.
    /// - Throws: besides, `server` with `number_mismatch` (the third time the sign-in is denied), `already_decided`,
    ///   `approval_expired`.
    public func approve(_ approval: PushApproval, numberMatch: String) async throws {
        let path = "/api/v1/me/push_approvals/\(approval.id.percentEncoded)/approve"
        _ = try await ask(Call("POST", path).json(PushDecision(numberMatch: numberMatch))).decoded(NoReply.self)
    }

    /// Refuses the sign-in.
    ///
    /// - Throws: besides, `server` with `already_decided` or `approval_expired`.
    public func deny(_ approval: PushApproval) async throws {
        let path = "/api/v1/me/push_approvals/\(approval.id.percentEncoded)/deny"
        _ = try await ask(Call("POST", path)).decoded(NoReply.self)
    }

    /// Says where this device takes notifications, as `didRegisterForRemoteNotificationsWithDeviceToken` tells.
    public func registerPushToken(_ token: Data, _ environment: PushEnvironment) async throws {
        let call = try Call("PUT", "/api/v1/me/push_token", isRepeatable: true)
            .json(PushTokenBody(token: token.hexadecimal, environment: environment))
        let answer = try await ask(call)
        guard answer.status == 204 else { throw answer.error }
    }

    /// The id in a code's URL, `<issuer>/oauth/qr/<id>`.
    private func codeID(_ code: URL) throws(MerganserError) -> String {
        guard code.host == issuer.host, code.port == issuer.port,
            code.deletingLastPathComponent().path == issuer.appending(path: "oauth/qr").path
        else { throw .server(status: 404, code: "not_found", requestID: nil) }
        return code.lastPathComponent.percentEncoded
    }
}

/// A sign-in in a browser that waits for the user's approval, or had it.
public struct PushApproval: Decodable, Hashable, Sendable {
    /// A later server may know more.
    public struct Status: RawRepresentable, Decodable, Hashable, Sendable {
        /// Waits for the user.
        public static let pending = Status(rawValue: "pending")
        /// The user approved it.
        public static let approved = Status(rawValue: "approved")
        /// The user denied it, or gave a wrong number three times.
        public static let denied = Status(rawValue: "denied")
        /// Nobody decided in time.
        public static let expired = Status(rawValue: "expired")

        /// The server's word.
        public let rawValue: String

        /// The server's word.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Names it in notifications.
    public let id: String
    /// What has become of it.
    public let status: Status
    /// The browser's address.
    public let ip: String?
    /// What the browser says that it is.
    public let userAgent: String?
    /// The application that the user signs in to; nil is the server itself.
    public let application: String?
    /// When the browser asked.
    public let createdAt: Date
    /// Until when it can be decided: three minutes.
    public let expiresAt: Date
}

/// Which of Apple's push services knows a device.
public enum PushEnvironment: String, Encodable, Sendable {
    /// As the app is signed: for development, or for the store.
    case sandbox, production
}

private struct PushApprovalsReply: Decodable {
    let pushApprovals: [PushApproval]
}

private struct PushDecision: Encodable {
    let numberMatch: String
}

private struct PushTokenBody: Encodable {
    let token: String
    let environment: PushEnvironment
}
