package import IdentityTokens
import OpenSSL

extension AppleClientSettings {
    /// nil if Apple's tokens are not revoked, or if a variable is wrong.
    static func read(_ variables: VariableReader, _ environment: Deployment.Environment) -> AppleClientSettings? {
        let teamID = variables.optional(.appleTeamID) { text throws(InvalidValue) in text }
        let keyID = variables.optional(.appleKeyID) { text throws(InvalidValue) in text }
        let key = variables.optional(.applePrivateKey) { text throws(InvalidValue) in
            guard let key = try? PrivateKey(pem: text), key.kind == .p256 else {
                throw InvalidValue("is no P-256 key in PEM; set what Apple gave out as AuthKey_….p8")
            }
            return key
        }
        func url(_ variable: Variable) -> String? {
            variables.value(variable) { text throws(InvalidValue) in try secureURL(text, in: environment).description }
        }
        let (tokenURL, revocationURL) = (url(.appleTokenURL), url(.appleRevocationURL))
        let parts = [Variable.appleTeamID, .appleKeyID, .applePrivateKey]
        guard let one = parts.first(where: variables.isSet) else { return nil }
        for part in parts where !variables.isSet(part) {
            variables.report(part, "is not set, but \(one.name) is; set all three, or none")
        }
        guard let teamID, let keyID, let key, let tokenURL, let revocationURL else { return nil }
        return AppleClientSettings(
            teamID: teamID, keyID: keyID, privateKey: key, tokenURL: tokenURL, revocationURL: revocationURL,
            allowsLoopbackHTTP: environment == .development)
    }
}

extension Configuration {
    /// `apple` alone.
    package static func appleClient(
        environment: [String: String]
    ) throws(ConfigurationError) -> AppleClientSettings? {
        try VariableReader.load(environment) { variables -> AppleClientSettings?? in
            Deployment(variables).map { AppleClientSettings.read(variables, $0.environment) }
        }
    }
}
