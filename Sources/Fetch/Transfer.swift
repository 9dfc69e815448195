internal import CCurl

/// One request: owns the libcurl handle and the received bytes.
final class Transfer {
    private static let maximumHeaderSize = 65_536

    // curl_global_init(3): call it once for the program, before any other function.
    private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    let handle: UnsafeMutableRawPointer
    private let url: ParsedURL
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var pin: Pin?

    private let maximumSize: Int
    private let cutsBody: Bool
    private var headerSize = 0
    private var isHTTP2Required = false
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
        try limit(connecting: options.connectTimeout, to: options.timeout)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = options.certificateAuthorities { try set(CURLOPT_CAINFO, file) }
        // CURLOPT_CA_CACHE_TIMEOUT: with a directory beside the file, each transfer would read all certificates for itself,
        // which is most of the memory and the processor time that it takes.
        try check(merganser_curl_set_pointer(handle, CURLOPT_CAPATH, nil))
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

    /// Takes answers over HTTP/2 only, and waits for a connection that other transfers are about to open rather than open another
    /// (CURLOPT_PIPEWAIT).
    func requireHTTP2() throws(FetchError) {
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        try set(CURLOPT_PIPEWAIT, 1)
        isHTTP2Required = true
    }

    /// A handle for many transfers at once; nil if libcurl has no memory.
    static func makeMulti() -> UnsafeMutableRawPointer? { isInitialized ? curl_multi_init() : nil }

    /// Both count from the start of the transfer.
    func limit(connecting: Duration, to whole: Duration) throws(FetchError) {
        // Zero would mean that there is no limit.
        try set(CURLOPT_CONNECTTIMEOUT_MS, max(1, milliseconds(connecting)))
        try set(CURLOPT_TIMEOUT_MS, max(1, milliseconds(whole)))
    }

    /// Connects to one of these addresses without asking a resolver. Host and SNI stay those of the URL.
    func connect(to addresses: [IPAddress]) throws(FetchError) {
        guard let port = url.port, let pin = Pin(addresses, port: port) else { throw FetchError(CURLE_FAILED_INIT) }
        try set(CURLOPT_CONNECT_TO, UnsafeRawPointer(pin.connectTo))
        try set(CURLOPT_RESOLVE, UnsafeRawPointer(pin.resolve))
        try set(CURLOPT_SHARE, UnsafeRawPointer(pin.share))
        // A connection is this transfer's alone, since its address was checked for it.
        try set(CURLOPT_FRESH_CONNECT, 1)
        try set(CURLOPT_FORBID_REUSE, 1)
        self.pin = pin
    }

    func perform() throws(FetchError) -> Fetcher.Response { try finish(curl_easy_perform(handle)) }

    /// - Parameter result: what libcurl says of the transfer, which has ended.
    func finish(_ result: CURLcode) throws(FetchError) -> Fetcher.Response {
        if isTooLarge { throw FetchError(.tooLarge, "the answer is larger than \(maximumSize) bytes") }
        guard result == CURLE_OK || isCut else { throw FetchError(result, detail: String(cString: errorText)) }
        if isHTTP2Required {
            var version = 0
            try check(merganser_curl_get_long(handle, CURLINFO_HTTP_VERSION, &version))
            guard version == Int(CURL_HTTP_VERSION_2_0) else {
                throw FetchError(.failed, "the server speaks no HTTP/2")
            }
        }
        var status = 0
        try check(merganser_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status))
        // libcurl takes any number for the status of a line that begins with `HTTP/2`.
        guard (100...999).contains(status) else { throw FetchError(.failed, "the answer has no status") }
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
        // An interim answer (100, 103) precedes the real one.
        if bytes.starts(with: "HTTP/".utf8) { headers = [] }
        // In bytes: as a character, a colon may have a combining mark with it.
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
            let name = bytes[..<colon].map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
            headers.append((String(decoding: name, as: UTF8.self), trimmed(bytes[(colon + 1)...])))
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

/// Addresses that stand for a transfer's host, whatever its URL says.
private final class Pin {
    /// Sends every connection to a name that no resolver knows (RFC 6761 §6.4), so that if libcurl did not find the
    /// addresses below it would connect to nothing.
    let connectTo: UnsafeMutablePointer<curl_slist>
    /// The addresses of that name.
    let resolve: UnsafeMutablePointer<curl_slist>
    /// Keeps them apart from those of other transfers, which a multi handle would otherwise put into one cache.
    let share: UnsafeMutableRawPointer

    init?(_ addresses: [IPAddress], port: String) {
        let name = "pinned.invalid"
        let list = addresses.map { $0.isIPv4 ? "\($0)" : "[\($0)]" }.joined(separator: ",")
        guard let connectTo = curl_slist_append(nil, "::\(name):"),
            let resolve = curl_slist_append(nil, "\(name):\(port):\(list)"),
            let share = curl_share_init(), merganser_curl_share(share, CURL_LOCK_DATA_DNS) == CURLSHE_OK
        else { return nil }
        self.connectTo = connectTo
        self.resolve = resolve
        self.share = share
    }

    deinit {
        curl_slist_free_all(connectTo)
        curl_slist_free_all(resolve)
        curl_share_cleanup(share)
    }
}

private func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
    return String(decoding: bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed(), as: UTF8.self)
}

private func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
