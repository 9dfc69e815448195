import Crypto
public import Foundation
import MerganserClient

/// The session of an app that signs its users in with the server.
///
/// What is stored is the truth: nothing is remembered between two calls, so several sessions, also in several processes,
/// may use one store. A credential is removed only when the server has refused exactly the stored one.
public actor AuthSession {
    /// What it was made with.
    public nonisolated let config: MerganserConfig

    private let browser: any Browser
    private let server: Server
    private let record: RecordStore<SessionRecord>
    private let verifier: IDTokenVerifier
    private nonisolated let handoff: Handoff
    private nonisolated let streams = StateStreams<SessionState>()
    private var refreshing: SharedTask<Session>?

    /// - Parameters:
    ///   - config: which application signs in at which server.
    ///   - store: where the tokens stay.
    ///   - browser: what users sign in with.
    ///   - transport: what carries requests.
    ///   - clock: the device's.
    /// - Throws: `ConfigurationFault`.
    public init(
        _ config: MerganserConfig, store: any SecureStore, browser: any Browser,
        transport: any Transport = URLSessionTransport(), clock: any DeviceClock = SystemClock()
    ) throws(ConfigurationFault) {
        try self.init(config, store: store, browser: browser, transport: transport, clock: clock, backoff: Backoff())
    }

    package init(
        _ config: MerganserConfig, store: any SecureStore, browser: any Browser, transport: any Transport,
        clock: any DeviceClock, backoff: Backoff
    ) throws(ConfigurationFault) {
        try config.check()
        self.config = config
        self.browser = browser
        server = Server(
            config.issuer, transport: transport, clock: ServerClock(clock), device: clock, backoff: backoff)
        record = RecordStore(store: store, item: StoredItem(.tokens, of: config.clientID), empty: SessionRecord())
        verifier = IDTokenVerifier(
            issuer: config.issuerName, audience: config.clientID, server: server, store: store)
        handoff = Handoff(redirectURI: config.redirectURI)
    }

    // MARK: States

    /// The present state, then each new one, without an end.
    public nonisolated var states: AsyncStream<SessionState> {
        defer { Task { await start() } }
        return streams.stream()
    }

    /// The present state. Another process may have changed it.
    public var state: SessionState {
        do {
            return try load().state
        } catch MerganserError.storeUnavailable(let fault) {
            return .unknown(fault)
        } catch {
            return .signedOut(.neverSignedIn)
        }
    }

    /// What the server said last; nil if nobody is signed in.
    ///
    /// - Throws: `storeUnavailable`.
    public func lastSession() throws -> Session? { try load().tokens?.session }

    /// Finishes what an earlier process began: a refresh whose answer it did not store, a revocation. Every other method
    /// does so when it has to; an app calls this at its start so that it happens soon.
    public func start() async {
        guard let record = try? load() else { return }
        if record.pending != nil || record.adopted != nil { _ = try? await sharedRefresh(of: record.generation) }
        try? await revokeSignedOut()
    }

    // MARK: Sign-in

    /// Signs a user in: opens the server's app or pages, and waits for the way back.
    ///
    /// - Parameters:
    ///   - prompt: `login` asks to sign in anew, `select_account` for another account, `consent` for consent.
    ///   - loginHint: an e-mail address to fill in.
    /// - Throws: `userCancelled`, also if another sign-in begins while this one is in the server's app, or ends before it does;
    ///   `signedOut` if somebody signs out before it ends; `alreadyInProgress` while the browser of another one is open;
    ///   `browserUnavailable`, `handoffTimeout`, `stateMismatch`, `missingCode`, `authorizationRefused`, `invalidIDToken`,
    ///   `offline`, `server`, `storeUnavailable`. Who was signed in before stays so.
    @discardableResult
    public func signIn(prompt: String? = nil, loginHint: String? = nil) async throws -> Session {
        let signIns = try load().signIns
        let request = AuthorizeRequest(config, prompt: prompt, loginHint: loginHint)
        guard let arrivals = handoff.begin(state: request.state) else { throw MerganserError.alreadyInProgress }
        let code: String
        do {
            code = try Callback(try await wayBack(from: request, arrivals)).code(for: request.state)
        } catch {
            handoff.end(state: request.state)
            throw error
        }
        // From here on the code is spent: a caller that leaves does not end it.
        return try await SharedTask { try await self.exchange(code, request, signIns) }.value
    }

    /// Whatever comes first: what the browser ended at, what `handle` brought, or the end of patience.
    private func wayBack(from request: AuthorizeRequest, _ arrivals: AsyncStream<URL>) async throws -> URL {
        guard let redirectURI = URL(string: config.redirectURI) else {
            throw MerganserError.configurationRefused(.redirectURI)
        }
        return try await withThrowingTaskGroup(of: URL?.self) { group in
            group.addTask { [browser, handoff] in
                let url = try await browser.open(request.url, returningTo: redirectURI)
                if url == nil { handoff.leave(state: request.state) }
                return url
            }
            group.addTask {
                for await url in arrivals { return url }
                try Task.checkCancellation()
                throw MerganserError.userCancelled
            }
            group.addTask { [server, config] in
                try await server.pause(config.handoffTimeout)
                throw MerganserError.handoffTimeout
            }
            defer { group.cancelAll() }
            while let url = try await group.next() {
                if let url { return url }
            }
            throw CancellationError()
        }
    }

    /// Takes a URL that the system opened the app with, from `.onOpenURL`.
    ///
    /// - Returns: whether it is this session's redirect URI. Other URLs are the app's own.
    @discardableResult
    public nonisolated func handle(_ url: URL) -> Bool { handoff.handle(url) }

    /// Trades the code for tokens (accounts §2.5). A code works once, so a lost answer cannot be had again; that an
    /// earlier try arrived shows as `invalid_grant`.
    ///
    /// - Parameter signIns: of the record when this sign-in began.
    private func exchange(_ code: String, _ request: AuthorizeRequest, _ signIns: Int) async throws -> Session {
        defer { handoff.end(state: request.state) }
        let call = Call(
            "/oauth/token",
            form: [
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", config.redirectURI),
                ("client_id", config.clientID), ("code_verifier", request.verifier),
            ], isRepeatable: true)
        let answer = try await server.answer(to: call)
        guard answer.status == 200 else {
            throw answer.code.map { .authorizationRefused(code: $0, description: answer.description) } ?? answer.error
        }
        let tokens = try await verified(answer, nonce: request.nonce)
        let stored = try record.update { [offset = server.clock.offset] record in
            // Whoever signed out or in meanwhile, here or in another process, came later than this sign-in began.
            if record.signIns == signIns {
                record.signIn(tokens)
                record.clockOffset = offset
            }
            return record
        }
        streams.publish(stored.state)
        guard stored.tokens == tokens else {
            try? record.update { $0.revocations.append(tokens.refreshToken) }
            try? await revokeSignedOut()
            throw stored.tokens == nil ? MerganserError.signedOut(stored.reason) : .userCancelled
        }
        return tokens.session
    }

    /// - Parameter nonce: of the authorize request; nil on refresh, whose answer may be repeated when it has expired.
    private func verified(_ answer: Answer, nonce: String?) async throws -> SessionRecord.Tokens {
        let reply = try answer.decoded(TokenReply.self)
        let scopes = reply.scope.split(separator: " ").map(String.init)
        let access = try? SignedToken(reply.accessToken)
        guard let access, let expiry = try? access.claims(TokenTimes.self).exp else { throw answer.error }
        let claims: MerganserClaims
        if let idToken = reply.idToken {
            claims = try await verifier.verify(
                idToken, accessToken: reply.accessToken, nonce: nonce, validAt: nonce == nil ? .whenIssued : .now)
        } else if scopes.contains("openid") {
            throw MerganserError.invalidIDToken(.missing)
        } else {
            do { claims = try access.claims(MerganserClaims.self) } catch { throw answer.error }
        }
        return SessionRecord.Tokens(
            accessToken: reply.accessToken, refreshToken: reply.refreshToken, idToken: reply.idToken, scopes: scopes,
            claims: claims, expiry: expiry)
    }

    // MARK: Tokens

    /// An access token that is valid for at least another minute. It is refreshed if need be.
    ///
    /// - Throws: `signedOut`, `storeUnavailable`; if a refresh was needed also `offline`, `server`, `invalidIDToken`.
    public func accessToken() async throws -> String {
        let record = try load()
        guard record.refreshToken != nil else { throw MerganserError.signedOut(record.reason) }
        guard let tokens = record.tokens, isFresh(tokens) else {
            return try await renewed(record, isAnew: false).accessToken
        }
        // An interrupted refresh is repeated before the server forgets it; nobody has to wait for that.
        if record.pending != nil { Task { try? await sharedRefresh(of: record.generation) } }
        return tokens.accessToken
    }

    private func isFresh(_ tokens: SessionRecord.Tokens) -> Bool { tokens.expiry > server.clock.now + Self.margin }

    /// Seconds for which a token that is handed out stays valid, and for which claims count as those of now.
    private static let margin: TimeInterval = 60

    /// The refresh token; nil if nobody is signed in. Whoever uses it elsewhere ends this session, since it works once.
    ///
    /// - Throws: `storeUnavailable`.
    public func currentRefreshToken() async throws -> String? { try load().refreshToken }

    /// New tokens and claims as of now. Calls at the same time share one request, also those of other processes.
    ///
    /// - Throws: `signedOut`, `offline`, `server`, `invalidIDToken`, `storeUnavailable`.
    @discardableResult
    public func refresh() async throws -> Session { try await renewed(try load(), isAnew: true) }

    /// - Parameters:
    ///   - record: if another process has refreshed it since it was read, this one need not.
    ///   - isAnew: whether claims of long ago will not do, though their token is fresh.
    private func renewed(_ record: SessionRecord, isAnew: Bool) async throws -> Session {
        // The answer to a request of long ago has the tokens and claims of then (accounts §3.8). By the clock of then it may
        // also be one of the future.
        let isOld = record.pending.map { abs(server.clock.now.timeIntervalSince($0.writtenAt)) > Self.margin } ?? false
        var session = try await sharedRefresh(of: record.generation)
        if try isAnew && isOld || !(load().tokens.map(isFresh) ?? true) {
            session = try await sharedRefresh(of: record.generation + 1)
        }
        // What was asked for one user is not given of the next one.
        let present = try load()
        guard present.signIns == record.signIns || present.isOfUser(of: record) else {
            throw MerganserError.signedOut(present.reason)
        }
        return session
    }

    private func sharedRefresh(of generation: Int) async throws -> Session {
        if let refreshing { return try await refreshing.value }
        let task = SharedTask { try await self.rotate(from: generation) }
        refreshing = task
        return try await task.value
    }

    /// Refreshes the credential of a generation (accounts §2.6, §3.8): the request is stored, sent, and its answer stored in
    /// its place.
    private func rotate(from generation: Int) async throws -> Session {
        defer { refreshing = nil }
        while true {
            let flight = String.random()
            switch try board(flight, generation) {
            case .done(let tokens): return tokens.session
            case .signedOut(let reason): throw MerganserError.signedOut(reason)
            case .wait: try await server.pause(.milliseconds(50))
            case .send(let pending): return try await rotate(pending, flight)
            }
        }
    }

    private enum Boarding: Sendable {
        /// Somebody else was faster.
        case done(SessionRecord.Tokens)
        case signedOut(SignedOutReason)
        /// An earlier refresh may still be on its way to the server.
        case wait
        case send(PendingRequest)
    }

    /// Seconds after which a request has ended, if its process has not said so: the transport's time, and some for writing.
    private var longestFlight: TimeInterval { server.transport.timeout.seconds * 1.2 }

    private func board(_ flight: String, _ generation: Int) throws -> Boarding {
        let longest = longestFlight
        return try record.update { [config, server] record in
            // With the lock, so that a flight that departed before this one ends before it.
            let now = server.deviceDate
            guard let refreshToken = record.refreshToken else { return .signedOut(record.reason) }
            if let pending = record.pending {
                record.depart(flight, now: now, longest: longest)
                return .send(pending)
            }
            if record.generation != generation, let tokens = record.tokens { return .done(tokens) }
            guard !record.isAnyoneUnderWay(now: now) else { return .wait }
            let form = [
                ("grant_type", "refresh_token"), ("refresh_token", refreshToken), ("client_id", config.clientID),
            ]
            let pending = PendingRequest(
                .refresh, "/oauth/token", body: Data(formEncoded(form).utf8),
                contentType: "application/x-www-form-urlencoded", at: server.clock.now)
            record.begin(pending)
            record.depart(flight, now: now, longest: longest)
            return .send(pending)
        }
    }

    private func rotate(_ pending: PendingRequest, _ flight: String) async throws -> Session {
        do {
            let answer = try await server.answer(to: Call(pending)) { try isClear(flight, of: pending) }
            switch (answer.status, answer.code) {
            case (200, _):
                let tokens = try await verified(answer, nonce: nil)
                let stored = try load()
                // Nobody knows yet whom an adopted token belongs to.
                let sub = stored.tokens?.claims.sub ?? tokens.claims.sub
                guard stored.pending?.key != pending.key || sub == tokens.claims.sub else {
                    throw MerganserError.invalidIDToken(.wrongSubject)
                }
                return try settle(pending, flight) { $0.rotate(to: tokens) }
            case (400, "invalid_grant"):
                return try settle(pending, flight) { $0.signOut(.signInAgain) }
            default: throw answer.error
            }
        } catch {
            // What the answer was is known to another process, perhaps.
            try? record.update { $0.arrive(flight) }
            guard let record = try? load(), record.pending?.key != pending.key else { throw error }
            guard let tokens = record.tokens else { throw MerganserError.signedOut(record.reason) }
            return tokens.session
        }
    }

    /// Before the request is sent: whether it is still the one to send, with a flight that lasts as long as the request may.
    /// The system may suspend a process anywhere, such as when it boards. A store whose changes take longer than a flight has to
    /// spare never clears one.
    private func isClear(_ flight: String, of pending: PendingRequest) throws -> Bool {
        let longest = longestFlight
        for _ in 0..<5 {
            let record = try record.read()
            guard record.pending?.key == pending.key else { return false }
            let (now, time) = (server.deviceDate, server.transport.timeout.seconds)
            if record.isUnderWay(flight, for: time, now: now) { return true }
            try self.record.update { [server] record in
                guard record.pending?.key == pending.key else { return }
                record.depart(flight, now: server.deviceDate, longest: longest)
            }
        }
        return false
    }

    /// Stores what an answer means, if its request is still the pending one: then the credential is, too, that it was made
    /// from.
    private func settle(
        _ pending: PendingRequest, _ flight: String, _ change: (inout SessionRecord) -> Void
    ) throws -> Session {
        let settled = try record.update { [offset = server.clock.offset] record in
            record.arrive(flight)
            if record.pending?.key == pending.key {
                change(&record)
                record.clockOffset = offset
            }
            return record
        }
        streams.publish(settled.state)
        guard let tokens = settled.tokens else { throw MerganserError.signedOut(settled.reason) }
        return tokens.session
    }

    // MARK: Sign-out

    /// What `signOut` ends.
    public enum SignOutScope: Sendable {
        /// This device forgets the tokens.
        case local
        /// The server revokes them, too.
        case everywhere
    }

    /// Signs the user out. Nobody is signed in afterwards, whatever is thrown but `storeUnavailable`.
    ///
    /// - Throws: `storeUnavailable`: the user is still signed in. `offline`, `server`: the server has not revoked the tokens
    ///   yet; `start` tries again.
    public func signOut(_ scope: SignOutScope = .local) async throws {
        try record.discardUndecodable()
        let state = try record.update { record in
            if scope == .everywhere, let token = record.refreshToken { record.revocations.append(token) }
            record.signOut(.requested)
            return record.state
        }
        streams.publish(state)
        // To its end, also if the caller leaves.
        if scope == .everywhere { try await SharedTask { try await self.revokeSignedOut() }.value }
    }

    private func revokeSignedOut() async throws {
        for token in try load().revocations {
            try await revoke(token)
            try record.update { $0.revocations.removeAll { $0 == token } }
        }
    }

    /// Any definite answer is the last word: the server forgets unknown tokens gladly (accounts §2.9).
    private func revoke(_ token: String) async throws {
        _ = try await server.answer(
            to: Call("/oauth/revoke", form: [("token", token), ("client_id", config.clientID)], isRepeatable: true))
    }

    // MARK: Record

    /// The record, and what it teaches of the server's clock, once.
    private func load() throws -> SessionRecord {
        do {
            let record = try record.read()
            server.clock.restore(offset: record.clockOffset)
            streams.publish(record.state)
            return record
        } catch MerganserError.storeUnavailable(let fault) {
            streams.publish(.unknown(fault))
            throw MerganserError.storeUnavailable(fault)
        }
    }
}

/// The answer of the token endpoint (accounts §2.5).
private struct TokenReply: Decodable {
    let accessToken: String
    let refreshToken: String
    let idToken: String?
    let scope: String
}

/// A sign-in under way (accounts §2.2): PKCE S256, state, nonce.
private struct AuthorizeRequest: Sendable {
    let verifier = String.random()
    let state = String.random()
    let nonce = String.random()
    let url: URL

    init(_ config: MerganserConfig, prompt: String?, loginHint: String?) {
        let challenge = Data(SHA256.hash(data: Data(verifier.utf8))).base64URL
        var items = [
            ("response_type", "code"), ("client_id", config.clientID), ("redirect_uri", config.redirectURI),
            ("scope", config.scopes.joined(separator: " ")), ("state", state), ("nonce", nonce),
            ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        if let prompt { items.append(("prompt", prompt)) }
        if let loginHint { items.append(("login_hint", loginHint)) }
        url = config.issuer.appending(path: "oauth/authorize").withQuery(formEncoded(items))
    }
}

extension URL {
    fileprivate func withQuery(_ query: String) -> URL {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: false)
        components?.percentEncodedQuery = query
        return components?.url ?? self
    }
}
