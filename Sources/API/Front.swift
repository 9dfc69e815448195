/// What stands before the server, as far as answers of the analytics surface depend on it (analytics §15).
package struct Front: Sendable {
    /// Base URL of this server as clients see it, without trailing slash.
    package var publicURL: String
    /// The request header that names the end user's country, in lower case; nil: countries are not recorded.
    package var countryHeader: String?
    /// Whether nginx, which has the folder, sends the bytes of a download; else a worker does.
    package var sendsDownloads: Bool
    /// How far an upload may fall behind the least rate.
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
