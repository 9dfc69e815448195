internal import CCurl

/// A URL as libcurl reads it, so that the URL that is checked is the URL that is requested.
final class ParsedURL {
    /// For CURLOPT_CURLU.
    let handle: OpaquePointer

    init(_ text: String) throws(FetchError) {
        guard let handle = curl_url() else { throw FetchError(CURLE_FAILED_INIT) }
        self.handle = handle
        guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else {
            throw FetchError(.refused, "not a URL")
        }
    }

    deinit { curl_url_cleanup(handle) }

    var scheme: String? { part(CURLUPART_SCHEME) }
    /// Percent-decoded; an IPv6 address has its brackets.
    var host: String? { part(CURLUPART_HOST) }
    /// The scheme's default, if the URL has none.
    var port: String? { part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)) }
    var hasUserInformation: Bool { part(CURLUPART_USER) != nil || part(CURLUPART_PASSWORD) != nil }

    private func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
