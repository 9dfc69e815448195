internal import Fetch
internal import JOSE
internal import Threads
internal import Time

/// One provider's key set: an immutable snapshot, which a thread replaces as a whole when it has fetched the next one.
///
/// Callers with a known key never wait. Only that thread fetches, so there is one fetch at a time. It keeps the last
/// good set during outages, and never replaces a usable set with an unusable one.
final class KeySetSource: Sendable {
    private struct State {
        var current: Snapshot?
        /// When the thread next fetches on its own; in the past until the first set was fetched.
        var nextFetch = Timestamp(milliseconds: 0)
        var isWanted = false
        var isFetching = false
        var isStopping = false
        var thread: Thread?
        /// When an unknown key last caused a fetch.
        var unknownKeyAt: Timestamp?
        /// When the last fetch ended.
        var fetchedAt: Timestamp?
        var failuresInARow = 0
        var lastError: String?
        var fetches = 0
        var failures = 0
    }

    private enum Search {
        case found(KeySet)
        /// The set has the key, but it is time for the next set.
        case due(KeySet)
        /// A fetch is under way or requested. The value is the number of fetches before it.
        case pending(Int)
    }

    private let provider: Provider
    private let settings: ProviderSettings
    private let limits: KeySetLimits
    private let clock: Clock
    private let cache: KeySetCache?
    private let waiters: KeySetWaiters
    private let fetcher: Fetcher
    private let state: Monitor<State>

    init(
        provider: Provider, settings: ProviderSettings, limits: KeySetLimits, clock: Clock, cache: KeySetCache?,
        initial: KeySet?, waiters: KeySetWaiters
    ) {
        self.provider = provider
        self.settings = settings
        self.limits = limits
        self.clock = clock
        self.cache = cache
        self.waiters = waiters
        var options = Fetcher.Options()
        options.connectTimeout = limits.fetchTimeout
        options.timeout = limits.fetchTimeout
        options.maximumSize = limits.maximumSize
        options.allowsLoopbackHTTP = settings.allowsLoopbackHTTP
        fetcher = Fetcher(options)

        var state = State()
        if let initial {
            let now = clock.now
            state.current = Snapshot(keySet: initial, fetchedAt: now, expiresAt: now + limits.defaultLifetime)
            state.nextFetch = Self.renewal(now, limits.defaultLifetime, limits)
        } else {
            // A set from an earlier process is used at once, and is refreshed at once.
            state.current = cache?.load(clock.now, limits)
        }
        self.state = Monitor(state)
    }

    // MARK: For callers

    /// The set in which to look up the key. Waits for a fetch only if no set has the key yet. The returned set need not
    /// have it.
    ///
    /// - Parameter algorithm: the token's. A known name may have a key of another type by now.
    func keySet(for keyID: String, _ algorithm: Algorithm) throws(KeySetUnavailable) -> KeySet {
        let now = clock.now
        let search = try state.withLock { state throws(KeySetUnavailable) in
            try find(keyID, algorithm, now, &state)
        }
        switch search {
        case .found(let keySet): return keySet
        case .due(let keySet):
            start()
            return keySet
        case .pending(let fetches):
            start()
            wake()
            let hasWaited = waiters.pass {
                _ = state.wait(atMost: limits.patience) { state in
                    state.fetches > fetches || state.isStopping ? true : nil
                }
            }
            guard hasWaited, let current = state.withLock({ usable($0, clock.now) }) else {
                throw KeySetUnavailable(provider)
            }
            return current.keySet
        }
    }

    private func find(
        _ keyID: String, _ algorithm: Algorithm, _ now: Timestamp, _ state: inout State
    ) throws(KeySetUnavailable) -> Search {
        let current = usable(state, now)
        if let keySet = current?.keySet, keySet[keyID, algorithm] != nil {
            return isDue(state, now) ? .due(keySet) : .found(keySet)
        }
        if !state.isFetching, !state.isWanted {
            let mayFetch =
                current == nil
                ? hasPassed(limits.retryPause.lowerBound, since: state.fetchedAt, now)
                : hasPassed(limits.unknownKeyPause, since: state.unknownKeyAt, now)
            guard mayFetch, !state.isStopping else {
                guard let current else { throw KeySetUnavailable(provider) }
                return .found(current.keySet)
            }
            if current != nil { state.unknownKeyAt = now }
            state.isWanted = true
        }
        return .pending(state.fetches)
    }

    private func usable(_ state: State, _ now: Timestamp) -> Snapshot? {
        state.current.flatMap { now < $0.expiresAt + limits.staleness ? $0 : nil }
    }

    /// Also true if the clock was set back to before the last fetch, because a set from the future would never expire.
    private func isDue(_ state: State, _ now: Timestamp) -> Bool {
        now >= state.nextFetch || state.fetchedAt.map { now < $0 } == true
    }

    /// Also true if the clock was set back to before `then`.
    private func hasPassed(_ pause: Duration, since then: Timestamp?, _ now: Timestamp) -> Bool {
        then.map { now - $0 >= pause || now < $0 } ?? true
    }

    var status: KeySetStatus {
        let now = clock.now
        return state.withLock { state in
            KeySetStatus(
                isReady: usable(state, now) != nil, keyCount: state.current?.keySet.keys.count ?? 0,
                fetchedAt: state.current?.fetchedAt, expiresAt: state.current?.expiresAt, lastError: state.lastError,
                fetches: state.fetches, failures: state.failures)
        }
    }

    // MARK: The thread

    /// Starts the thread unless it runs or was stopped. Callers also start it when a fetch is due.
    func start() {
        state.withLock { state in
            if state.thread == nil, !state.isStopping { state.thread = Thread { self.run() } }
        }
    }

    func stop() {
        let running = state.change { state in
            state.isStopping = true
            defer { state.thread = nil }
            return state.thread
        }
        running?.join()
    }

    /// Makes the thread check the clock. Otherwise it does so when a fetch is due, and once a minute.
    func wake() { state.change { _ in } }

    private func run() {
        while true {
            let untilNext = state.withLock { $0.nextFetch - clock.now }
            // The clock may be set meanwhile, and then the pause would be too long.
            let isStopping = state.wait(atMost: min(max(untilNext, .zero), .seconds(60))) { state -> Bool? in
                if state.isStopping { return true }
                guard state.isWanted || isDue(state, clock.now) else { return nil }
                state.isFetching = true
                state.isWanted = false
                return false
            }
            if isStopping == true { return }
            if isStopping == false { renew() }
        }
    }

    private func renew() {
        let result = fetch()
        let now = clock.now
        if case .success(let snapshot) = result { cache?.store(snapshot) }
        state.change { state in
            state.isFetching = false
            state.fetches += 1
            state.fetchedAt = now
            switch result {
            case .success(let snapshot):
                state.current = snapshot
                state.nextFetch = Self.renewal(now, snapshot.expiresAt - snapshot.fetchedAt, limits)
                state.failuresInARow = 0
                state.lastError = nil
            case .failure(let failure):
                let pause = limits.retryPause.lowerBound * (1 << min(state.failuresInARow, 10))
                state.nextFetch = now + min(pause, limits.retryPause.upperBound)
                state.failuresInARow += 1
                state.failures += 1
                state.lastError = failure.message
            }
        }
    }

    /// After 50 to 75 % of the lifetime, so that processes that started together do not fetch together.
    private static func renewal(_ now: Timestamp, _ lifetime: Duration, _ limits: KeySetLimits) -> Timestamp {
        now + max(lifetime * Double.random(in: 0.5...0.75), limits.lifetime.lowerBound)
    }

    private struct Failure: Error {
        var message: String
    }

    private func fetch() -> Result<Snapshot, Failure> {
        let response: Fetcher.Response
        do {
            response = try fetcher.get(settings.jwksURL, headers: [("accept", "application/json")])
        } catch {
            return .failure(Failure(message: error.message))
        }
        guard response.status == 200 else { return .failure(Failure(message: "status \(response.status)")) }
        guard let keySet = KeySet(json: response.body) else { return .failure(Failure(message: "not a JWK Set")) }
        guard !keySet.keys.isEmpty else { return .failure(Failure(message: "a JWK Set without a usable key")) }
        let now = clock.now
        let lifetime = response.header("cache-control").flatMap(maxAge) ?? limits.defaultLifetime
        let bounded = min(max(lifetime, limits.lifetime.lowerBound), limits.lifetime.upperBound)
        return .success(Snapshot(keySet: keySet, fetchedAt: now, expiresAt: now + bounded))
    }
}
