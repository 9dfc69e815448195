import Analytics

extension AnalyticsSettings {
    init?(_ variables: VariableReader, _ deployment: Deployment?) {
        let endpoint = deployment.flatMap { deployment in
            variables.value(.attributionEndpoint) { text throws(InvalidValue) in
                try secureURL(text, in: deployment.environment)
            }
        }
        let attachments = AttachmentSettings(variables)
        let grace = variables.tombstoneGrace
        guard let deployment, let endpoint, let attachments, let grace else { return nil }
        self.init(
            isDevelopment: deployment.environment == .development, attributionEndpoint: endpoint.description,
            attachments: attachments, tombstoneGrace: grace)
    }
}

extension AttachmentSettings {
    init?(_ variables: VariableReader) {
        let directory = variables.attachmentDirectory
        let maximumSize = variables.integer(.attachmentMaximumSize, in: 1...1_099_511_627_776)
        let secret = variables.value(.attachmentSecret, KeyMaterial.init(text:))
        guard let directory, let maximumSize, let secret else { return nil }
        self.init(directory: directory, maximumSize: Int64(maximumSize), secret: secret.bytes)
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
