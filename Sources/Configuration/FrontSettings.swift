/// What the analytics surface is told of nginx and of the proxies before it (analytics §15).
package struct FrontSettings: Sendable {
    /// The base URL of this server, as clients see it, without a trailing slash.
    package var publicURL: String
    /// The request header with the end user's country, in lower case; nil if countries are not recorded.
    package var countryHeader: String?
    package var attachmentSender: AttachmentSender
    /// How long an upload may stay behind the minimum rate.
    package var uploadPatience: Duration

    /// Who sends the bytes of a download.
    package enum AttachmentSender: String, Sendable, CaseIterable {
        /// nginx, which has the folder: the server tells it the file.
        case nginx
        /// The server itself.
        case worker
    }
}

extension FrontSettings {
    init?(_ variables: VariableReader, _ deployment: Deployment?) {
        let countryHeader = variables.value(.countryHeader, headerName)
        let patience = variables.integer(.uploadPatience, in: 1...3600)
        let sender = variables.choice(.attachmentSender, AttachmentSender.self)
        guard let deployment, let countryHeader, let patience, let sender else { return nil }
        self.init(
            publicURL: deployment.issuer.description, countryHeader: countryHeader.isEmpty ? nil : countryHeader,
            attachmentSender: sender, uploadPatience: .seconds(patience))
    }
}

/// The name of a request header, in lower case.
private func headerName(_ text: String) throws(InvalidValue) -> String {
    guard text.utf8.allSatisfy({ isInstanceCharacter($0 | 0x20) || isInstanceCharacter($0) }) else {
        throw InvalidValue("is \(quoted(text)); set the name of a header, such as CF-IPCountry")
    }
    return text.lowercased()
}
