import Accounts
import HTTP

/// The accounts API: method, path, credential, handler. A handler can be mounted only with the credential that it
/// takes.
enum Routes {
    static let all = accounts + oauth + administration + analytics

    static let accounts: [Route] = [
        // Devices
        Route(.post, "/api/v1/devices", .anyone, replay: .device("device_uuid"), bootstrapDevice),
        Route(.post, "/api/v1/auth/anonymous_bootstrap", .anyone, replay: .device("device_id"), bootstrapAnonymousUser),

        // Sessions
        Route(.post, "/api/v1/auth/{provider}/session", .anyone, replay: .identityToken, startSession),
        Route(.post, "/auth/{provider}/session", .anyone, replay: .identityToken, startSession),
        Route(.delete, "/api/v1/auth/session", .pak(appBound: true), endSession),

        Route(.post, "/auth/apple/notifications", .anyone, receiveAppleNotification),

        // The account
        Route(.get, "/api/v1/me", .pak(.profileRead), showProfile),
        Route(.patch, "/api/v1/me", .pak(.profileWrite), updateProfile),
        Route(.delete, "/api/v1/me", .pak(.accountDelete), deleteAccount),
        Route(.get, "/api/v1/me/export", .pak(.profileRead, .loginHistoryRead), exportAccount),
        Route(.get, "/api/v1/me/connected_apps", .pak(.profileRead), listConnectedApps),
        Route(
            .delete, "/api/v1/me/connected_apps/{client_id}", .pak(.profileWrite, appBound: true), disconnectApp),
        Route(.get, "/api/v1/me/login_history", .pak(.loginHistoryRead), listLoginHistory),

        // Agents, managed by their users
        Route(.post, "/api/v1/me/agents", .pak(.agentApprovalsManage), createAgent),
        Route(.get, "/api/v1/me/agents", .pak(.agentApprovalsRead), listAgents),
        Route(.delete, "/api/v1/me/agents/{id}", .pak(.agentApprovalsManage), revokeAgent),
        Route(.get, "/api/v1/me/agent_approvals", .pak(.agentApprovalsRead), listAgentApprovals),
        Route(.get, "/api/v1/me/agent_approvals/{id}", .pak(.agentApprovalsRead), showAgentApproval),
        Route(.post, "/api/v1/me/agent_approvals/{id}/decide", .pak(.agentApprovalsManage), decideAgentApproval),

        // Agents themselves
        Route(.post, "/api/agents/approvals", .agent, requestApproval),
        Route(.get, "/api/agents/approvals/{id}", .agent, pollApproval),
        Route(.post, "/api/agents/approvals/{id}/cancel", .agent, cancelApproval),

        // Identities
        Route(.get, "/api/v1/me/connected_identities", .pak(.profileRead), listIdentities),
        Route(.post, "/api/v1/me/connected_identities", .presentedPAK(.profileWrite), replay: .bearer, linkIdentity),
        Route(.delete, "/api/v1/me/connected_identities/{provider}", .pak(.profileWrite), unlinkIdentity),

        // Sign-ins elsewhere, approved in the app
        Route(.put, "/api/v1/me/push_token", .pak(.profileWrite), registerPushToken),
        Route(.get, "/api/v1/me/push_approvals", .pak(.profileRead), listPushApprovals),
        Route(.post, "/api/v1/me/push_approvals/{id}/approve", .pak(.profileWrite), approvePushApproval),
        Route(.post, "/api/v1/me/push_approvals/{id}/deny", .pak(.profileWrite), denyPushApproval),

        Route(.get, "/api/v1/oauth/qr/{id}", .pak(.profileRead), showCodeApproval),
        Route(.post, "/api/v1/oauth/qr/{id}/scan", .pak(.profileWrite), scanCodeApproval),
        Route(.post, "/api/v1/oauth/qr/{id}/approve", .pak(.profileWrite), approvePushApproval),

        // The swap
        Route(.post, "/api/v1/me/anonymous_swap", .anonymousPAK(.profileWrite), replay: .bearer, swapAnonymousAccount),

        // The merge
        Route(.post, "/api/v1/me/merge/session-token", .pak(.profileWrite), replay: .bearer, issueMergeToken),
        Route(.post, "/api/v1/me/merge/otp", .identifiedPAK(.profileWrite), issueMergeOTP),
        Route(.post, "/api/v1/me/merge", .identifiedPAK(.profileWrite), replay: .bearer, mergeAccounts),
    ]
}
