internal import CCurl

/// One request: owns the libcurl handle and the received bytes.
final class Transfer {
    private static let maximumHeaderSize = 65_536

    // curl_global_init(3): call it once for the program, before any other function.
    private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let handle: UnsafeMutableRawPointer
    private let url: ParsedURL
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?

    private let maximumSize: Int
    private let cutsBody: Bool
    private var headerSize = 0
    private var isTooLarge = false
    private var isCut = false
    private var headers: [(name: String, value: String)] = []
    private var body: [UInt8] = []

    init(_ url: String, _ headers: [(String, String)], _ options: Fetcher.Options) throws(FetchError) {
        self.url = try Self.parse(url, allowsLoopbackHTTP: options.allowsLoopbackHTTP)
        guard Self.isInitialized, let handle = curl_easy_init() else { throw FetchError(CURLE_FAILED_INIT) }
        self.handle = handle
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        maximumSize = options.maximumSize
        cutsBody = options.cutsBody

        try set(CURLOPT_CURLU, UnsafeRawPointer(self.url.handle))
        try set(CURLOPT_PROTOCOLS_STR, options.allowsLoopbackHTTP ? "http,https" : "https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // An empty name disables the proxies that the environment names.
        try set(CURLOPT_PROXY, "")
        // libcurl-thread(3): without this, time-outs would raise signals, which is not safe with threads.
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options.connectTimeout))
        try set(CURLOPT_TIMEOUT_MS, milliseconds(options.timeout))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = options.certificateAuthorities { try set(CURLOPT_CAINFO, file) }
        try set(CURLOPT_USERAGENT, options.userAgent)
        for (name, value) in headers { headerList = curl_slist_append(headerList, "\(name): \(value)") }
        if let headerList { try set(CURLOPT_HTTPHEADER, UnsafeRawPointer(headerList)) }
        try set(CURLOPT_ERRORBUFFER, UnsafeRawPointer(errorText))
        try setCallbacks()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    /// Copies the body (CURLOPT_COPYPOSTFIELDS), and makes the request a POST.
    func setBody(_ bytes: [UInt8]) throws(FetchError) {
        try check(merganser_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count)))
        // Without an address, libcurl would read the body from standard input.
        let result = (bytes.isEmpty ? [0] : bytes).withUnsafeBytes {
            merganser_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
        }
        try check(result)
    }

    func perform() throws(FetchError) -> Fetcher.Response {
        let result = curl_easy_perform(handle)
        if isTooLarge { throw FetchError(.tooLarge, "the answer is larger than \(maximumSize) bytes") }
        guard result == CURLE_OK || isCut else { throw FetchError(result, detail: String(cString: errorText)) }
        var status = 0
        try check(merganser_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status))
        return Fetcher.Response(status: status, headers: headers, body: body)
    }

    // MARK: The URL

    /// libcurl's own parser parses the URL, and libcurl then gets the result. So the URL is parsed only once.
    private static func parse(_ text: String, allowsLoopbackHTTP: Bool) throws(FetchError) -> ParsedURL {
        let url = try ParsedURL(text)
        guard let scheme = url.scheme, let host = url.host else { throw FetchError(.refused, "not a URL") }
        guard !url.hasUserInformation else { throw FetchError(.refused, "a URL with user information") }
        let takesPlainHTTP = allowsLoopbackHTTP && Host(host)?.takesPlainHTTP == true
        guard scheme == "https" || scheme == "http" && takesPlainHTTP else {
            throw FetchError(.refused, "a URL that is not https")
        }
        return url
    }

    // MARK: Receiving

    private func setCallbacks() throws(FetchError) {
        let receiver = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        try set(CURLOPT_HEADERDATA, receiver)
        try check(
            merganser_curl_set_callback(handle, CURLOPT_HEADERFUNCTION) { data, size, count, receiver in
                Transfer.receive(data, size * count, receiver) { $0.receiveHeader($1) }
            })
        try set(CURLOPT_WRITEDATA, receiver)
        try check(
            merganser_curl_set_callback(handle, CURLOPT_WRITEFUNCTION) { data, size, count, receiver in
                Transfer.receive(data, size * count, receiver) { $0.receiveBody($1) }
            })
    }

    /// - Returns: the count; any other number ends the transfer (CURLOPT_WRITEFUNCTION).
    private static func receive(
        _ data: UnsafeMutablePointer<CChar>?, _ count: Int, _ receiver: UnsafeMutableRawPointer?,
        _ body: (Transfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let receiver else { return -1 }
        let transfer = Unmanaged<Transfer>.fromOpaque(receiver).takeUnretainedValue()
        return body(transfer, UnsafeRawBufferPointer(start: data, count: count)) ? count : -1
    }

    private func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headerSize += bytes.count
        if headerSize > Self.maximumHeaderSize {
            isTooLarge = true
            return false
        }
        let line = String(decoding: bytes, as: UTF8.self)
        // An interim answer (100, 103) precedes the real one.
        if line.hasPrefix("HTTP/") { headers = [] }
        if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...]
            headers.append((line[..<colon].lowercased(), trimmed(value)))
        }
        return true
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let fits = bytes.count <= maximumSize - body.count
        isTooLarge = !fits && !cutsBody
        isCut = !fits && cutsBody
        if !isTooLarge { body.append(contentsOf: bytes.prefix(maximumSize - body.count)) }
        return fits
    }

    // MARK: Options

    private func set(_ option: CURLoption, _ value: Int) throws(FetchError) {
        try check(merganser_curl_set_long(handle, option, value))
    }

    /// libcurl copies strings.
    private func set(_ option: CURLoption, _ value: String) throws(FetchError) {
        try check(merganser_curl_set_string(handle, option, value))
    }

    private func set(_ option: CURLoption, _ value: UnsafeRawPointer) throws(FetchError) {
        try check(merganser_curl_set_pointer(handle, option, value))
    }

    private func check(_ code: CURLcode) throws(FetchError) {
        if code != CURLE_OK { throw FetchError(code) }
    }
}

private func trimmed(_ text: Substring) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
    let utf8 = text.utf8.drop(while: isSpace)
    return String(decoding: utf8.reversed().drop(while: isSpace).reversed(), as: UTF8.self)
}

private func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
