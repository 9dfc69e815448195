import IdentityTokens

extension ProviderSettings {
    /// The providers that have an audience; nil when there is none or something is wrong.
    static func all(
        _ variables: VariableReader, _ environment: Deployment.Environment
    ) -> [Provider: ProviderSettings]? {
        let providers = [
            Provider.apple: read(variables, environment, .appleAudiences, .appleIssuers, .appleJWKSURL),
            Provider.google: read(variables, environment, .googleAudiences, .googleIssuers, .googleJWKSURL),
        ].compactMapValues { $0 }
        if !variables.isSet(.appleAudiences), !variables.isSet(.googleAudiences) {
            variables.report(
                .appleAudiences,
                "is not set, and MERGANSER_GOOGLE_AUDIENCES neither; set the client ids of at least one")
            return nil
        }
        return providers
    }

    private static func read(
        _ variables: VariableReader, _ environment: Deployment.Environment, _ audiences: Variable, _ issuers: Variable,
        _ jwksURL: Variable
    ) -> ProviderSettings? {
        let audiences = variables.optional(audiences, list)
        let issuers = variables.value(issuers, list)
        let url = variables.value(jwksURL) { text throws(InvalidValue) in try secureURL(text, in: environment) }
        guard let audiences, let issuers, let url else { return nil }
        return ProviderSettings(
            issuers: issuers, jwksURL: url.description, audiences: audiences,
            allowsLoopbackHTTP: environment == .development)
    }
}
