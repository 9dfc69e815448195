import Accounts
import HTTP

/// The accounts API: method, path, credential, handler. A handler can be mounted only with the credential that it
/// takes.
enum Routes {
    static let accounts: [Route] = [
        // Devices
        Route(.post, "/api/v1/devices", .anyone, replay: .device("device_uuid"), bootstrapDevice),
        Route(.post, "/api/v1/auth/anonymous_bootstrap", .anyone, replay: .device("device_id"), bootstrapAnonymousUser),

        // Sessions
        Route(.post, "/api/v1/auth/{provider}/session", .anyone, replay: .identityToken, startSession),
        Route(.post, "/auth/{provider}/session", .anyone, replay: .identityToken, startSession),
        Route(.delete, "/api/v1/auth/session", .pak(nil, appBound: true), endSession),

        // The account
        Route(.get, "/api/v1/me", .pak(.profileRead), showProfile),
        Route(.patch, "/api/v1/me", .pak(.profileWrite), updateProfile),
        Route(.get, "/api/v1/me/connected_apps", .pak(.profileRead), listConnectedApps),
        Route(
            .delete, "/api/v1/me/connected_apps/{client_id}", .pak(.profileWrite, appBound: true), disconnectApp),

        // Identities
        Route(.get, "/api/v1/me/connected_identities", .pak(.profileRead), listIdentities),
        Route(.post, "/api/v1/me/connected_identities", .pak(.profileWrite), replay: .bearer, linkIdentity),
        Route(.delete, "/api/v1/me/connected_identities/{provider}", .pak(.profileWrite), unlinkIdentity),

        // The swap
        Route(.post, "/api/v1/me/anonymous_swap", .anonymousPAK(.profileWrite), replay: .bearer, swapAnonymousAccount),

        // The merge
        Route(.post, "/api/v1/me/merge/session-token", .pak(.profileWrite), replay: .bearer, issueMergeToken),
        Route(.post, "/api/v1/me/merge/otp", .identifiedPAK(.profileWrite), issueMergeOTP),
        Route(.post, "/api/v1/me/merge", .identifiedPAK(.profileWrite), replay: .bearer, mergeAccounts),
    ]
}
