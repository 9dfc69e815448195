/// What answers of the analytics surface depend on in front of the server: nginx and its settings (analytics §15).
package struct Front: Sendable {
    /// The base URL of this server, as clients see it, without a trailing slash.
    package var publicURL: String
    /// The request header with the end user's country, in lower case; nil if countries are not recorded.
    package var countryHeader: String?
    /// Whether nginx, which can read the folder, sends the bytes of a download. Otherwise a worker does.
    package var sendsDownloads: Bool
    /// How long an upload may stay behind the minimum rate.
    package var uploadPatience: Duration

    package init(
        publicURL: String, countryHeader: String? = "cf-ipcountry", sendsDownloads: Bool = true,
        uploadPatience: Duration = .seconds(30)
    ) {
        self.publicURL = publicURL
        self.countryHeader = countryHeader
        self.sendsDownloads = sendsDownloads
        self.uploadPatience = uploadPatience
    }
}
