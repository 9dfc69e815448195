import IdentityTokens

extension ProviderSettings {
    /// The providers that have a client id; nil if there is none, or if a variable is wrong.
    static func all(
        _ variables: VariableReader, _ environment: Deployment.Environment
    ) -> [Provider: ProviderSettings]? {
        let providers = [
            Provider.apple: read(
                variables, environment,
                Names(
                    audiences: .appleAudiences, issuers: .appleIssuers, jwksURL: .appleJWKSURL,
                    authorizeURL: .appleAuthorizeURL, webClientID: .appleWebClientID)),
            Provider.google: read(
                variables, environment,
                Names(
                    audiences: .googleAudiences, issuers: .googleIssuers, jwksURL: .googleJWKSURL,
                    authorizeURL: .googleAuthorizeURL, webClientID: .googleWebClientID)),
        ].compactMapValues { $0 }
        if providers.isEmpty, ![Variable].clientIDs.contains(where: variables.isSet) {
            variables.report(
                .appleAudiences,
                "is not set, nor is MERGANSER_GOOGLE_AUDIENCES; set the client ids of at least one provider")
            return nil
        }
        return providers
    }

    private struct Names {
        var audiences, issuers, jwksURL, authorizeURL, webClientID: Variable
    }

    private static func read(
        _ variables: VariableReader, _ environment: Deployment.Environment, _ names: Names
    ) -> ProviderSettings? {
        let audiences = variables.optional(names.audiences, list)
        let issuers = variables.value(names.issuers, list)
        let url = variables.value(names.jwksURL) { text throws(InvalidValue) in try secureURL(text, in: environment) }
        let authorizeURL = variables.value(names.authorizeURL) { text throws(InvalidValue) in
            let url = try secureURL(text, in: environment)
            if url.rest.contains("?") { throw InvalidValue("is \(quoted(text)); set a URL without a query") }
            return url
        }
        let webClientID = variables.optional(names.webClientID) { text throws(InvalidValue) in text }
        guard let issuers, let url, let authorizeURL, audiences != nil || webClientID != nil else { return nil }
        let others = audiences?.filter { $0 != webClientID } ?? []
        return ProviderSettings(
            issuers: issuers, jwksURL: url.description, audiences: others + (webClientID.map { [$0] } ?? []),
            authorizeURL: authorizeURL.description, webClientID: webClientID,
            allowsLoopbackHTTP: environment == .development)
    }
}

extension [Variable] {
    /// A provider that has one of these is on.
    fileprivate static let clientIDs: [Variable] = [
        .appleAudiences, .appleWebClientID, .googleAudiences, .googleWebClientID,
    ]
}
