internal import CCurl
internal import Threads

/// Makes many POST requests to strangers at once, on the thread that calls it (libcurl-multi(3)).
///
/// Every request obeys the address policy of accounts §3.5 when it is sent: the host is resolved once, beside this thread;
/// if any of its addresses is forbidden nothing is sent; otherwise libcurl connects to these addresses and asks no
/// resolver. Redirects are not followed.
package final class TransferPool<Key: Hashable & Sendable> {
    package struct Completion: Sendable {
        package let key: Key
        /// The answer, whatever its status.
        package let result: Result<Fetcher.Response, FetchError>
        /// Since the request was added.
        package let duration: Duration
        /// Whether there may be no answer because nobody called `poll` for a second or more.
        package let isCallersFault: Bool
    }

    /// What has been added and has no result yet.
    private final class Request {
        let key: Key
        let url: OutboundURL
        let transfer: Transfer
        let start = ContinuousClock.now
        /// Whether nobody worked on it for a while.
        var wasNeglected = false

        init(_ key: Key, _ url: OutboundURL, _ transfer: Transfer) {
            self.key = key
            self.url = url
            self.transfer = transfer
        }

        var age: Duration { ContinuousClock.now - start }

        func completion(_ result: () throws(FetchError) -> Fetcher.Response) -> Completion {
            let result = Result(catching: result)
            var isCallersFault = false
            if wasNeglected, case .failure(let error) = result {
                isCallersFault = error.reason == .timeout || error.reason == .failed
            }
            return Completion(key: key, result: result, duration: age, isCallersFault: isCallersFault)
        }
    }

    /// If nobody calls `poll` for longer than this, receivers are not blamed for what they may have answered meanwhile:
    /// libcurl looks at the time before it looks at what came.
    private static var longestAbsence: Duration { .seconds(1) }

    private let options: Fetcher.Options
    private let multi: MultiHandle
    private let lookups: NameLookups
    /// Names that were looked up since the last look.
    private let inbox = Inbox()
    private var lastID = 0
    /// Until when answers would have been seen.
    private var attendedUntil = ContinuousClock.now
    /// Requests whose host is being looked up, by a number of their own.
    private var resolving: [Int: Request] = [:]
    /// Requests that libcurl works on.
    private var transferring: [UnsafeMutableRawPointer: Request] = [:]
    /// Requests that ended before libcurl had them.
    private var ended: [Completion] = []

    /// - Parameters:
    ///   - options: `connectTimeout` covers the look-up, too. A larger body is cut, so it is no error.
    ///   - resolve: returns a name's addresses; called on other threads. Requests to one host share a call that is under way.
    package init(_ options: Fetcher.Options, resolve: (@Sendable (String) -> [IPAddress])? = nil) throws(FetchError) {
        self.options = options
        multi = try MultiHandle()
        lookups = NameLookups(resolve ?? { Resolver.addresses(of: $0) })
    }

    deinit { abandon() }

    /// Ends the wait of `poll`, from any thread.
    package var waker: Waker { Waker(multi: multi) }

    /// How many requests have no result yet.
    package var count: Int { resolving.count + transferring.count + ended.count }

    /// Begins a request. Its result, also if it cannot be sent, comes from `poll`.
    package func post(_ url: OutboundURL, headers: [(String, String)], body: [UInt8], as key: Key) {
        do throws(FetchError) {
            let transfer = try Transfer(url.text, headers, options)
            try transfer.setBody(body)
            let request = Request(key, url, transfer)
            switch url.host {
            case .address(let address): begin(request, at: [address])
            case .name(let name): look(up: name, for: request)
            }
        } catch {
            ended.append(Completion(key: key, result: .failure(error), duration: .zero, isCallersFault: false))
        }
    }

    /// Works on the requests, and waits until one of them ends, `waker` is used, or the time is over.
    ///
    /// - Returns: empty if no request ended.
    package func poll(atMost time: Duration) -> [Completion] {
        var completions = work()
        if completions.isEmpty {
            let wait = max(.zero, resolving.values.reduce(time) { min($0, options.connectTimeout - $1.age) })
            let end = ContinuousClock.now + wait
            multi.wait(atMost: wait)
            // The process may have been stopped meanwhile.
            attendedUntil = min(.now, end)
            completions = work()
        }
        return completions
    }

    /// Gives up all requests.
    ///
    /// - Returns: their keys.
    @discardableResult
    package func abandon() -> [Key] {
        for request in transferring.values { curl_multi_remove_handle(multi.pointer, request.transfer.handle) }
        for (id, request) in resolving { giveUpLookup(of: request, id) }
        defer {
            transferring = [:]
            resolving = [:]
            ended = []
        }
        return transferring.values.map(\.key) + resolving.values.map(\.key) + ended.map(\.key)
    }

    // MARK: Work

    private func work() -> [Completion] {
        noteAbsence()
        defer { attendedUntil = .now }
        for (id, addresses) in inbox.take() {
            // The look-up may have taken too long.
            if let request = resolving.removeValue(forKey: id) { begin(request, at: addresses) }
        }
        for (id, request) in resolving where request.age >= options.connectTimeout {
            resolving[id] = nil
            giveUpLookup(of: request, id)
            end(request, FetchError(.unresolved, "the name was not resolved in time"))
        }
        var running: Int32 = 0
        curl_multi_perform(multi.pointer, &running)
        var completions = ended
        ended = []
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi.pointer, &left)?.pointee {
            guard message.msg == CURLMSG_DONE, let handle = message.easy_handle,
                let request = transferring.removeValue(forKey: handle)
            else { continue }
            let code = message.data.result
            curl_multi_remove_handle(multi.pointer, handle)
            completions.append(request.completion { () throws(FetchError) in try request.transfer.finish(code) })
        }
        return completions
    }

    private func noteAbsence() {
        let now = ContinuousClock.now
        guard now - attendedUntil > Self.longestAbsence else { return }
        for request in Array(transferring.values) + Array(resolving.values)
        where now - max(attendedUntil, request.start) > Self.longestAbsence {
            request.wasNeglected = true
        }
    }

    private func look(up name: String, for request: Request) {
        lastID += 1
        let id = lastID
        resolving[id] = request
        lookups.addresses(of: name, for: id) { [inbox, multi] addresses in
            inbox.put(id, addresses)
            multi.wake()
        }
    }

    private func giveUpLookup(of request: Request, _ id: Int) {
        if case .name(let name) = request.url.host { lookups.giveUp(name, for: id) }
    }

    private func begin(_ request: Request, at addresses: [IPAddress]) {
        do throws(FetchError) {
            if addresses.isEmpty { throw FetchError(.unresolved, "the name has no address") }
            do throws(ForbiddenURL) { try request.url.judge(addresses) } catch {
                throw FetchError(.forbidden, "\(error)")
            }
            try request.transfer.connect(to: addresses)
            try request.transfer.limit(
                connecting: options.connectTimeout - request.age, to: options.timeout - request.age)
            guard curl_multi_add_handle(multi.pointer, request.transfer.handle) == CURLM_OK else {
                throw FetchError(CURLE_FAILED_INIT)
            }
            transferring[request.transfer.handle] = request
        } catch {
            end(request, error)
        }
    }

    private func end(_ request: Request, _ error: FetchError) {
        ended.append(request.completion { () throws(FetchError) in throw error })
    }
}

/// Ends a pool's wait.
package struct Waker: Sendable {
    let multi: MultiHandle

    package func wake() { multi.wake() }
}

/// Where the threads of look-ups leave what they found.
private final class Inbox: Sendable {
    private let found = Monitor<[(Int, [IPAddress])]>([])

    func put(_ id: Int, _ addresses: [IPAddress]) { found.withLock { $0.append((id, addresses)) } }

    func take() -> [(Int, [IPAddress])] {
        found.withLock { found in
            defer { found = [] }
            return found
        }
    }
}
