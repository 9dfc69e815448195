internal import CCurl

/// Makes POST requests over HTTP/2 (RFC 9113), many at once over one connection that stays open, on the thread that calls it
/// (libcurl-multi(3)). For servers that the operator names: no address is forbidden.
package final class HTTP2Client<Key: Hashable & Sendable> {
    package struct Completion: Sendable {
        package let key: Key
        /// The answer, whatever its status.
        package let result: Result<Fetcher.Response, FetchError>
    }

    /// Transfers over the same connection.
    private final class Lane {
        let multi: MultiHandle
        /// By libcurl's handle.
        var underWay: [UnsafeMutableRawPointer: (key: Key, transfer: Transfer)] = [:]

        init() throws(FetchError) { multi = try MultiHandle() }

        deinit {
            for request in underWay.values { curl_multi_remove_handle(multi.pointer, request.transfer.handle) }
        }
    }

    private let options: Fetcher.Options
    /// Nil until the next request opens a connection.
    private var lane: Lane?
    /// Those whose connection gets no more requests.
    private var retired: [Lane] = []
    /// Requests that ended before libcurl had them.
    private var ended: [Completion] = []

    package init(_ options: Fetcher.Options) throws(FetchError) {
        self.options = options
        lane = try Lane()
    }

    private var lanes: [Lane] { retired + (lane.map { [$0] } ?? []) }

    /// How many requests have no result yet.
    package var count: Int { lanes.reduce(ended.count) { $0 + $1.underWay.count } }

    /// Begins a request. Its result, also if it cannot be sent, comes from `poll`.
    package func post(_ url: String, headers: [(String, String)], body: [UInt8], as key: Key) {
        do throws(FetchError) {
            let lane = try openLane()
            let transfer = try Transfer(url, headers, options)
            try transfer.setBody(body)
            try transfer.requireHTTP2()
            guard curl_multi_add_handle(lane.multi.pointer, transfer.handle) == CURLM_OK else {
                throw FetchError(CURLE_FAILED_INIT)
            }
            lane.underWay[transfer.handle] = (key, transfer)
        } catch {
            ended.append(Completion(key: key, result: .failure(error)))
        }
    }

    private func openLane() throws(FetchError) -> Lane {
        if let lane { return lane }
        let new = try Lane()
        lane = new
        return new
    }

    /// Works on the requests, and waits until one of them ends or the time is over.
    ///
    /// - Returns: empty if no request ended.
    package func poll(atMost time: Duration) -> [Completion] {
        var completions = work()
        let deadline = ContinuousClock.now + time
        while completions.isEmpty, let busy = lanes.last(where: { !$0.underWay.isEmpty }),
            case let rest = deadline - ContinuousClock.now, rest > .zero
        {
            busy.multi.wait(atMost: lanes.count == 1 ? rest : min(rest, Self.turn))
            completions = work()
        }
        return completions
    }

    /// How long one connection is waited for while there are others.
    private static var turn: Duration { .milliseconds(20) }

    private func work() -> [Completion] {
        var completions = ended
        ended = []
        for lane in lanes { work(on: lane, &completions) }
        retired.removeAll { $0.underWay.isEmpty }
        return completions
    }

    private func work(on lane: Lane, _ completions: inout [Completion]) {
        var running: Int32 = 0
        curl_multi_perform(lane.multi.pointer, &running)
        var left: Int32 = 0
        while let message = curl_multi_info_read(lane.multi.pointer, &left)?.pointee {
            guard message.msg == CURLMSG_DONE, let handle = message.easy_handle,
                let request = lane.underWay.removeValue(forKey: handle)
            else { continue }
            let code = message.data.result
            curl_multi_remove_handle(lane.multi.pointer, handle)
            let result = Result { () throws(FetchError) in try request.transfer.finish(code) }
            if case .failure = result { retire(lane) }
            completions.append(Completion(key: request.key, result: result))
        }
    }

    /// A connection that gives no answers may be dead without anybody having said so. libcurl would use it again as long as
    /// it is open, so what comes next opens another one.
    private func retire(_ lane: Lane) {
        guard lane === self.lane else { return }
        self.lane = nil
        retired.append(lane)
    }
}
