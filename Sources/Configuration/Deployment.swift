/// The server's environment and issuer.
package struct Deployment: Sendable {
    package enum Environment: String, Sendable, CaseIterable {
        case production, development
    }

    package var environment: Environment
    /// Its text is the `iss` of every token, byte for byte.
    package var issuer: WebURL
    /// The folder of the development issuer's keys; nil in production.
    package var developmentKeysDirectory: String?
}

extension Deployment {
    /// Reads only these variables.
    package static func load(environment: [String: String]) throws(ConfigurationError) -> Deployment {
        try VariableReader.load(environment, Deployment.init)
    }

    init?(_ variables: VariableReader) {
        let environment = variables.choice(.environment, Environment.self)
        let issuer = variables.value(.issuer, parseIssuer)
        let keysDirectory = variables.optional(.devKeysDirectory, absolutePath)
        guard let environment, let issuer else { return nil }
        switch environment {
        case .production:
            if !issuer.isHTTPS {
                variables.report(
                    .issuer, "is \(quoted(issuer.description)); set an https URL, or MERGANSER_ENVIRONMENT=development")
            }
            if keysDirectory != nil {
                variables.report(.devKeysDirectory, "is only for MERGANSER_ENVIRONMENT=development; unset it")
            }
        case .development:
            if !issuer.isLoopback {
                variables.report(
                    .environment,
                    "is development, but the host of MERGANSER_ISSUER, \(quoted(issuer.host)), is not a loopback; "
                        + "set production, or an issuer such as http://127.0.0.1:8080")
            }
        }
        self.init(environment: environment, issuer: issuer, developmentKeysDirectory: keysDirectory)
    }
}

private func parseIssuer(_ text: String) throws(InvalidValue) -> WebURL {
    guard let url = WebURL(text) else {
        throw InvalidValue("is \(quoted(text)); set a URL such as https://id.example.com")
    }
    guard url.rest.isEmpty else {
        throw InvalidValue(
            "is \(quoted(text)); set scheme and host only, without \(url.rest == "/" ? "the slash at the end" : "a path")"
        )
    }
    guard url.description == url.origin else {
        throw InvalidValue("is \(quoted(text)); set \(url.origin), as it is compared byte for byte")
    }
    return url
}
