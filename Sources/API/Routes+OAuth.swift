import HTTP

extension Routes {
    /// The OAuth 2.0 and OpenID Connect provider (accounts, Stage 2).
    static let oauth: [Route] = [
        // In the server's own app
        Route(.get, "/api/v1/oauth/authorize/preview", .pak(.profileRead), previewAuthorization),
        Route(.post, "/api/v1/oauth/authorize", .pak(.profileWrite), authorizeNatively),

        // Tokens
        Route(.post, "/oauth/token", .client, crossOrigin: true, issueTokens),

        // What pages are made of, and what error codes mean
        Route(.get, "/oauth/errors", .anyone, showErrorCodes),
        Route(.get, "/oauth/style.css", .anyone, showStyleSheet),
        Route(.get, "/oauth/icon.svg", .anyone, showIcon),
    ]
}
