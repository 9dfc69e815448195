import HTTP

extension Routes {
    /// The OAuth 2.0 and OpenID Connect provider (accounts, Stage 2).
    static let oauth: [Route] = [
        // In the server's own app
        Route(.get, "/api/v1/oauth/authorize/preview", .pak(.profileRead), previewAuthorization),
        Route(.post, "/api/v1/oauth/authorize", .pak(.profileWrite), authorizeNatively),

        // In a browser
        Route(.get, "/oauth/authorize", .visitor, page: true, startAuthorization),
        Route(.get, "/oauth/login", .visitor, page: true, showLogin),
        Route(.get, "/oauth/consent", .visitor, page: true, showConsent),
        Route(.post, "/oauth/consent", .visitor, page: true, decideConsent),
        Route(.get, "/auth/{provider}/web/start", .visitor, page: true, startProviderSignIn),
        Route(.post, "/auth/{provider}/web/callback", .anyone, page: true, receiveProviderAnswer),
        Route(.get, "/auth/{provider}/web/finish", .visitor, page: true, finishProviderSignIn),
        Route(.get, "/session/logout", .visitor, page: true, showSignOut),
        Route(.post, "/session/logout", .visitor, page: true, endWebSession),

        // Tokens
        Route(.post, "/oauth/token", .client, crossOrigin: true, issueTokens),

        // What pages are made of, and what error codes mean
        Route(.get, "/oauth/errors", .anyone, showErrorCodes),
        Route(.get, "/oauth/style.css", .anyone, showStyleSheet),
        Route(.get, "/oauth/icon.svg", .anyone, showIcon),
    ]
}
