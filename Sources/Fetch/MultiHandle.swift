internal import CCurl

/// libcurl's multi handle. All its functions are one thread's, but curl_multi_wakeup(3) is any thread's; so it is Sendable.
final class MultiHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    init() throws(FetchError) {
        guard let pointer = Transfer.makeMulti() else { throw FetchError(CURLE_FAILED_INIT) }
        self.pointer = pointer
    }

    deinit { curl_multi_cleanup(pointer) }

    /// Ends the wait under way or, if there is none, the next one.
    func wake() { curl_multi_wakeup(pointer) }

    func wait(atMost time: Duration) {
        curl_multi_poll(pointer, nil, 0, Int32(clamping: Int((time / .milliseconds(1)).rounded(.up))), nil)
    }
}
