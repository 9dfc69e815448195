/// What an operator may set (analytics §15).
package struct AnalyticsSettings: Sendable {
    /// Base URL of this server as clients see it, without trailing slash.
    package var publicURL: String
    /// Whether requests may name the outcome of an attribution themselves (§7).
    package var isDevelopment: Bool
    package var attributionEndpoint: String
    /// The request header that names the end user's country, in lower case; nil: countries are not recorded.
    package var countryHeader: String?
    package var attachments: AttachmentSettings
    /// How long a tombstone stays after its claim.
    package var tombstoneGrace: Duration

    package init(
        publicURL: String, isDevelopment: Bool = false,
        attributionEndpoint: String = "https://api-adservices.apple.com/api/v1/",
        countryHeader: String? = "cf-ipcountry", attachments: AttachmentSettings,
        tombstoneGrace: Duration = .seconds(600)
    ) {
        self.publicURL = publicURL
        self.isDevelopment = isDevelopment
        self.attributionEndpoint = attributionEndpoint
        self.countryHeader = countryHeader
        self.attachments = attachments
        self.tombstoneGrace = tombstoneGrace
    }
}
