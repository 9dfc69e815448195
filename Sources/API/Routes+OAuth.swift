import Accounts
import HTTP

extension Routes {
    /// The OAuth 2.0 and OpenID Connect provider (accounts, Stage 2).
    static let oauth: [Route] = [
        // Developers' own applications
        Route(.post, "/api/v1/applications", .developer, registerApplication),
        Route(.get, "/api/v1/applications", .developer, listApplications),
        Route(.get, "/api/v1/applications/{client_id}", .developer, showApplication),
        Route(.patch, "/api/v1/applications/{client_id}", .developer, updateApplication),
        Route(.post, "/api/v1/applications/{client_id}/rotate_secret", .developer, rotateClientSecret),
        Route(.post, "/api/v1/applications/{client_id}/webhook_keys", .developer, addWebhookKey),

        // Webhooks, by the applications' developers
        Route(.post, "/api/v1/applications/{client_id}/webhook_test", .developer, testWebhook),
        Route(.get, "/api/v1/applications/{client_id}/webhook_deliveries", .developer, listWebhookDeliveries),
        Route(.post, "/api/v1/applications/{client_id}/webhook_replay", .developer, replayWebhookEvents),
        Route(.post, "/api/v1/applications/{client_id}/webhook_enable", .developer, enableWebhook),

        // For the server's own app
        Route(.get, "/api/v1/oauth/authorize/preview", .pak(.profileRead), previewAuthorization),
        Route(.post, "/api/v1/oauth/authorize", .pak(.profileWrite), authorizeNatively),
        Route(.post, "/api/v1/oauth/device", .pak(.profileWrite), decideDevice),

        // For a relying party's app
        Route(.post, "/api/v1/me/device_keys/exchange", .accessToken, replay: .bearer, exchangeDeviceKey),

        // For browsers
        Route(.get, "/oauth/authorize", .visitor, page: true, startAuthorization),
        Route(.post, "/oauth/authorize", .anyone, page: true, receiveAuthorization),
        Route(.get, "/oauth/login", .visitor, page: true, showLogin),
        Route(.post, "/oauth/push/start", .visitor, page: true, startPushApproval),
        Route(.post, "/oauth/qr/start", .visitor, page: true, startCodeApproval),
        Route(.get, "/oauth/push", .visitor, page: true, showPushApproval),
        Route(.get, "/oauth/consent", .visitor, page: true, showConsent),
        Route(.post, "/oauth/consent", .visitor, page: true, decideConsent),
        Route(.get, "/oauth/device", .visitor, page: true, showDevice),
        Route(.post, "/oauth/device", .visitor, page: true, submitDevice),
        Route(.get, "/auth/{provider}/web/start", .visitor, page: true, startProviderSignIn),
        Route(.post, "/auth/{provider}/web/callback", .anyone, page: true, receiveProviderAnswer),
        Route(.get, "/auth/{provider}/web/finish", .visitor, page: true, finishProviderSignIn),
        Route(.get, "/session/logout", .visitor, page: true, showSignOut),
        Route(.post, "/session/logout", .visitor, page: true, endWebSession),
        Route(.get, "/oauth/logout", .visitor, page: true, startLogout),
        Route(.post, "/oauth/logout", .anyone, page: true, receiveLogout),

        // A person's own account
        Route(.get, "/account", .accountVisitor, showAccount),
        Route(.get, "/account/link", .accountVisitor, chooseMethodToAdd),
        Route(.get, "/account/link/{provider}", .accountVisitor, askToAddSignInMethod),
        Route(.post, "/account/link/{provider}", .accountVisitor, addSignInMethod),
        Route(.get, "/account/merge", .accountVisitor, chooseAccountToMerge),
        Route(.get, "/account/merge/{provider}", .accountVisitor, askToMerge),
        Route(.post, "/account/merge/{provider}", .accountVisitor, mergeOwnAccounts),
        Route(.get, "/account/methods/{provider}/remove", .accountVisitor, askToRemoveSignInMethod),
        Route(.post, "/account/methods/{provider}/remove", .accountVisitor, removeSignInMethod),
        Route(.get, "/account/devices/{id}/remove", .accountVisitor, askToRemoveOwnDevice),
        Route(.post, "/account/devices/{id}/remove", .accountVisitor, removeOwnDevice),
        Route(.get, "/account/apps/{client_id}/disconnect", .accountVisitor, askToDisconnectApp),
        Route(.post, "/account/apps/{client_id}/disconnect", .accountVisitor, disconnectOwnApp),
        Route(.get, "/account/history", .accountVisitor, showSignInHistory),
        Route(.get, "/account/agents", .accountVisitor, showOwnAgents),
        Route(.get, "/account/agents/{id}/revoke", .accountVisitor, askToRevokeAgent),
        Route(.post, "/account/agents/{id}/revoke", .accountVisitor, revokeOwnAgent),
        Route(.get, "/account/approvals", .accountVisitor, showOwnApprovals),
        Route(.get, "/account/export", .accountVisitor, askToDownloadOwnData),
        Route(.post, "/account/export", .accountVisitor, downloadOwnData),
        Route(.get, "/account/delete", .accountVisitor, askToDeleteAccount),
        Route(.post, "/account/delete", .accountVisitor, deleteOwnAccount),

        // Tokens
        Route(.post, "/oauth/device_authorization", .client, authorizeDevice),
        Route(.post, "/oauth/token", .tokenClient, crossOrigin: true, issueTokens),
        Route(.post, "/oauth/revoke", .client, crossOrigin: true, revokeToken),
        Route(.post, "/oauth/introspect", .introspectingClient, introspectToken),

        // Users
        Route(.get, "/oauth/userinfo", .accessToken, crossOrigin: true, showUserInfo),
        Route(.post, "/oauth/userinfo", .accessToken, crossOrigin: true, showUserInfo),
        Route(.get, "/api/v1/oauth/userinfo", .accessToken, crossOrigin: true, showUserInfo),
        Route(.post, "/api/v1/oauth/userinfo", .accessToken, crossOrigin: true, showUserInfo),
        Route(.get, "/oauth/subs/{sub}", .confidentialClient(basicOnly: true), showSub),

        // Events, by polling
        Route(.get, "/api/v1/events", .pollingClient, pollEvents),

        // For developers of relying parties, and for the server's own apps
        Route(.get, "/diagnose", .anyone, diagnose),
        Route(.get, "/.well-known/apple-app-site-association", .anyone, showAppleAppSiteAssociation),
        Route(.get, "/.well-known/assetlinks.json", .anyone, showAssetLinks),

        // Assets of pages, and the list of error codes
        Route(.get, "/oauth/errors", .anyone, showErrorCodes),
        Route(.get, "/oauth/style.css", .anyone, showStyleSheet),
        Route(.get, "/oauth/icon.svg", .anyone, showIcon),
        Route(.get, "/oauth/logo", .anyone, showLogo),

        // Discovery
        Route(.get, "/.well-known/openid-configuration", .anyone, crossOrigin: true, showDiscovery),
        Route(.get, "/.well-known/jwks.json", .anyone, crossOrigin: true, showKeySet),
    ]
}
