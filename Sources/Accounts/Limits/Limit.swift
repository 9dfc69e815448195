/// How often something may happen within a period.
package struct Limit: Sendable {
    /// A number of events within a period. The period begins with the first event.
    package struct Window: Sendable {
        let count: Int
        let length: Duration
    }

    /// Part of the primary key of the counter's row.
    let name: StaticString
    let windows: [Window]

    init(_ name: StaticString, _ windows: Window...) {
        self.name = name
        self.windows = windows
    }

    /// Applications that one user registers (accounts §2.1).
    package static let applicationCreation = Limit(
        "application_creation", Window(count: 10, length: .hour), Window(count: 30, length: .day))
    /// Requests for a PAK, for one user and application (accounts §1.4).
    package static let pakExchange = Limit("pak_exchange", Window(count: 10, length: .hour))
    /// Test events for one application (accounts §3.4).
    package static let webhookTests = Limit("webhook_tests", Window(count: 60, length: .hour))
    /// Replays of events of one application (accounts §3.4).
    package static let webhookReplays = Limit("webhook_replays", Window(count: 60, length: .hour))
    /// Audit entries about dropped scopes of one application (accounts §2.2).
    package static let droppedScopes = Limit("dropped_scopes", Window(count: 10, length: .hour))
    /// Merge tokens that one user makes (accounts §3.1).
    package static let mergeTokens = Limit("merge_tokens", Window(count: 60, length: .hour))
    /// One-time passwords for merges that one user asks for (accounts §3.1) …
    package static let mergeOTPsOfRequester = Limit("merge_otp_requester", Window(count: 10, length: .hour))
    /// … for one target as requests name it, without the refused ones …
    package static let mergeOTPsOfName = Limit(
        "merge_otp_name", Window(count: 3, length: .hour), Window(count: 10, length: .day))
    /// … and that one user is sent, under whatever name.
    package static let mergeOTPsOfTarget = Limit(
        "merge_otp_target", Window(count: 3, length: .hour), Window(count: 10, length: .day))
    /// Copies of their data that one user asks for (accounts §4.8).
    package static let accountExports = Limit("account_exports", Window(count: 3, length: .day))
    /// Agents that one user creates (accounts §4.1).
    package static let agentCreation = Limit("agent_creation", Window(count: 60, length: .hour))
    /// Requests for approval under new keys, of one agent (accounts §4.1) …
    package static let approvalRequests = Limit("approval_requests", Window(count: 30, length: .seconds(60)))
    /// … and of all agents of one user.
    package static let approvalRequestsOfUser = Limit("approval_requests_user", Window(count: 1000, length: .day))
    /// Refusals that are noted in one user's login history (accounts §4.3).
    static let notedRefusals = Limit("noted_refusals", Window(count: 20, length: .hour))
    /// Sign-ins to approve on a phone that are begun for one address, whether somebody has it or not (accounts §4.2) …
    static let pushStartsOfAddress = Limit("push_starts_address", Window(count: 5, length: .seconds(600)))
    /// … and for one user, under whatever address.
    static let pushStartsOfUser = Limit("push_starts_user", Window(count: 5, length: .seconds(600)))
    /// User codes tried by one web session or PAK (accounts §2.11).
    package static let userCodeTries = Limit("user_code_tries", Window(count: 10, length: .seconds(600)))
}

extension Duration {
    fileprivate static let hour = Duration.seconds(3600)
    fileprivate static let day = Duration.seconds(86_400)
}
