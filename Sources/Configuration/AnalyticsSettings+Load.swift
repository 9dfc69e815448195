import Analytics

extension AnalyticsSettings {
    init?(_ variables: VariableReader, _ deployment: Deployment?) {
        let endpoint = deployment.flatMap { deployment in
            variables.value(.attributionEndpoint) { text throws(InvalidValue) in
                try secureURL(text, in: deployment.environment)
            }
        }
        let countryHeader = variables.value(.countryHeader, headerName)
        let attachments = AttachmentSettings(variables)
        let grace = variables.tombstoneGrace
        guard let deployment, let endpoint, let countryHeader, let attachments, let grace else { return nil }
        self.init(
            publicURL: deployment.issuer.description, isDevelopment: deployment.environment == .development,
            attributionEndpoint: endpoint.description, countryHeader: countryHeader.isEmpty ? nil : countryHeader,
            attachments: attachments, tombstoneGrace: grace)
    }
}

extension AttachmentSettings {
    init?(_ variables: VariableReader) {
        let directory = variables.attachmentDirectory
        let maximumSize = variables.integer(.attachmentMaximumSize, in: 1...1_099_511_627_776)
        let secret = variables.value(.attachmentSecret, KeyMaterial.init(text:))
        let patience = variables.integer(.uploadPatience, in: 1...3600)
        let sender = variables.choice(.attachmentSender, Sender.self)
        guard let directory, let maximumSize, let secret, let patience, let sender else { return nil }
        self.init(
            directory: directory, maximumSize: Int64(maximumSize), secret: secret.bytes,
            uploadPatience: .seconds(patience), sender: sender)
    }
}

extension Configuration {
    /// That variable alone.
    package static func attachmentDirectory(environment: [String: String]) throws(ConfigurationError) -> String {
        try VariableReader.load(environment, \.attachmentDirectory)
    }

    /// That variable alone.
    package static func tombstoneGrace(environment: [String: String]) throws(ConfigurationError) -> Duration {
        try VariableReader.load(environment, \.tombstoneGrace)
    }
}

extension VariableReader {
    fileprivate var attachmentDirectory: String? { value(.attachmentDirectory, absolutePath) }
    fileprivate var tombstoneGrace: Duration? { integer(.tombstoneGrace, in: 0...86_400).map { .seconds($0) } }
}

/// The name of a request header, in lower case.
private func headerName(_ text: String) throws(InvalidValue) -> String {
    guard text.utf8.allSatisfy({ isInstanceCharacter($0 | 0x20) || isInstanceCharacter($0) }) else {
        throw InvalidValue("is \(quoted(text)); set the name of a header, such as CF-IPCountry")
    }
    return text.lowercased()
}
