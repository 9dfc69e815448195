internal import CCurl

/// One message on its way to a server: owns the libcurl handle and what is left to send.
final class SMTPTransfer {
    // curl_global_init(3): safe to call from several threads since 7.84; calls are counted.
    private static let isInitialized = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let handle: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var recipients: UnsafeMutablePointer<curl_slist>?
    private var rest: ArraySlice<UInt8>

    /// - Parameter message: header and body with CRLF. libcurl doubles the dots at the beginning of lines, and adds the last.
    init(
        to server: SMTPServer, from sender: MailAddress, _ recipient: MailAddress, _ message: [UInt8]
    ) throws(MailError) {
        guard Self.isInitialized, let handle = curl_easy_init() else { throw MailError(CURLE_FAILED_INIT) }
        self.handle = handle
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        rest = message[...]

        let scheme = server.security == .implicitTLS ? "smtps" : "smtp"
        // The path is the name that this client greets with, which has to be a host's.
        try set(CURLOPT_URL, "\(scheme)://\(server.host):\(server.port)/\(sender.domain)")
        try set(CURLOPT_PROTOCOLS_STR, scheme)
        // An empty name disables the proxies that the environment names.
        try set(CURLOPT_PROXY, "")
        // libcurl-thread(3): without this, time-outs would raise signals, which is not safe with threads.
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(server.connectTimeout))
        try set(CURLOPT_TIMEOUT_MS, milliseconds(server.timeout))
        // Else curl waits two minutes for the answer to QUIT when it ends. In seconds; 0 would be none.
        try set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, milliseconds(server.timeout) / 1000))
        let tls = server.security == .startTLSIfOffered ? CURLUSESSL_TRY : CURLUSESSL_ALL
        try set(CURLOPT_USE_SSL, Int(tls.rawValue))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = server.certificateAuthorities { try set(CURLOPT_CAINFO, file) }
        if let login = server.login {
            try set(CURLOPT_USERNAME, login.user)
            try set(CURLOPT_PASSWORD, login.password)
        }
        try set(CURLOPT_MAIL_FROM, "<\(sender.text)>")
        recipients = curl_slist_append(nil, "<\(recipient.text)>")
        try set(CURLOPT_MAIL_RCPT, UnsafeRawPointer(recipients))
        try set(CURLOPT_ERRORBUFFER, UnsafeRawPointer(errorText))
        try check(merganser_curl_set_size(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(message.count)))
        try set(CURLOPT_UPLOAD, 1)
        try setCallbacks()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(recipients)
        errorText.deallocate()
    }

    func perform() throws(MailError) {
        let result = curl_easy_perform(handle)
        guard result != CURLE_OK else { return }
        var status = 0
        try check(merganser_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status))
        throw MailError(result, detail: String(cString: errorText), status: status)
    }

    // MARK: The message

    private func setCallbacks() throws(MailError) {
        try set(CURLOPT_READDATA, UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()))
        try check(
            merganser_curl_set_callback(handle, CURLOPT_READFUNCTION) { buffer, size, count, transfer in
                guard let buffer, let transfer else { return 0 }
                let room = UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
                return Unmanaged<SMTPTransfer>.fromOpaque(transfer).takeUnretainedValue().fill(room)
            })
        // Nothing comes that is read; libcurl would write it to standard output.
        try check(merganser_curl_set_callback(handle, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count })
    }

    /// - Returns: how many bytes; 0 at the end (CURLOPT_READFUNCTION).
    private func fill(_ room: UnsafeMutableRawBufferPointer) -> Int {
        let part = rest.prefix(room.count)
        room.copyBytes(from: part)
        rest = rest.dropFirst(part.count)
        return part.count
    }

    // MARK: Options

    private func set(_ option: CURLoption, _ value: Int) throws(MailError) {
        try check(merganser_curl_set_long(handle, option, value))
    }

    /// libcurl copies strings.
    private func set(_ option: CURLoption, _ value: String) throws(MailError) {
        try check(merganser_curl_set_string(handle, option, value))
    }

    private func set(_ option: CURLoption, _ value: UnsafeRawPointer?) throws(MailError) {
        try check(merganser_curl_set_pointer(handle, option, value))
    }

    private func check(_ code: CURLcode) throws(MailError) {
        if code != CURLE_OK { throw MailError(code) }
    }
}

private func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
