public import Foundation
import MerganserClient

/// The session of the server's own app, over `/api/v1`: a device with a guest, who may sign in, link a provider, or swap
/// into the account they already have.
///
/// Every method throws `signedOut`, `offline`, `server` and `storeUnavailable`; others are named where they can be thrown.
/// A token that the server no longer accepts is replaced with the device's secret, and only if that is refused, too, is the
/// user signed out.
public actor AccountSession {
    /// The server.
    public nonisolated let issuer: URL
    private let platform: DevicePlatform
    private let deviceName: String?
    private let anonymousID: (@Sendable () -> String?)?
    private let server: Server
    private let record: RecordStore<AccountRecord>
    private let device: RecordStore<DeviceRecord>
    private nonisolated let streams = StateStreams<AccountState>()
    private var lastInLine: Task<Void, Never>?

    /// - Parameters:
    ///   - issuer: the server.
    ///   - platform: what the device is.
    ///   - deviceName: what users see in their list of devices.
    ///   - anonymousID: the id under which the app reports analytics, read before each sign-in. Its events become the user's
    ///     in the commit that signs the user in, if the server's project takes its users from accounts.
    ///   - store: where the device and its token stay.
    ///   - transport: what carries requests.
    ///   - clock: the device's.
    /// - Throws: `ConfigurationFault`.
    public init(
        issuer: URL, platform: DevicePlatform, deviceName: String? = nil,
        anonymousID: (@Sendable () -> String?)? = nil, store: any SecureStore,
        transport: any Transport = URLSessionTransport(), clock: any DeviceClock = SystemClock()
    ) throws(ConfigurationFault) {
        try self.init(
            issuer: issuer, platform: platform, deviceName: deviceName, anonymousID: anonymousID, store: store,
            transport: transport, clock: clock, backoff: Backoff())
    }

    package init(
        issuer: URL, platform: DevicePlatform, deviceName: String?, anonymousID: (@Sendable () -> String?)? = nil,
        store: any SecureStore, transport: any Transport, clock: any DeviceClock, backoff: Backoff
    ) throws(ConfigurationFault) {
        try MerganserConfig.check(issuer: issuer)
        self.issuer = issuer
        self.platform = platform
        self.deviceName = deviceName
        self.anonymousID = anonymousID
        server = Server(issuer, transport: transport, clock: ServerClock(clock), device: clock, backoff: backoff)
        let owner = issuer.withoutFinalSlash
        record = RecordStore(store: store, item: StoredItem(.account, of: owner), empty: AccountRecord())
        device = RecordStore(store: store, item: StoredItem(.device, of: owner), empty: DeviceRecord())
    }

    // MARK: States

    /// The present state, then each new one, without an end.
    public nonisolated var states: AsyncStream<AccountState> {
        defer { Task { await start() } }
        return streams.stream()
    }

    /// The present state. Another process may have changed it.
    public var state: AccountState {
        do {
            return try load().state
        } catch MerganserError.storeUnavailable(let fault) {
            return .unknown(fault)
        } catch {
            return .signedOut(.neverSignedIn)
        }
    }

    /// Finishes what an earlier process began. Every other method does so when it has to; an app calls this at its start so
    /// that it happens soon: after ten minutes the server forgets its answer.
    public func start() async {
        _ = try? await inTurn { try await self.recover() }
        _ = try? await revokeSignedOut()
    }

    // MARK: Sign-in

    /// The user of this device: the one who is signed in, else whom the server knows the device by, else a new guest. It
    /// sends nothing if there is a token and nothing is unfinished.
    ///
    /// - Throws: `signedOut(.deviceUnknown)` if the server does not know the device any more. Nothing is left of it then;
    ///   call again for a new guest. `signedOut(.signInAgain)`, once, if the answer to a sign-in was lost for too long: there
    ///   may be an account; call again for a guest all the same.
    @discardableResult
    public func bootstrap() async throws -> Account {
        try await inTurn {
            do {
                try await self.recover()
            } catch {
                // An app that is started offline has its user all the same.
                if let account = try await self.load().signedIn { return account }
                throw error
            }
            let record = try await self.load()
            if let account = record.signedIn { return account }
            if record.hasLostAnswer {
                try self.record.update { $0.clearLostAnswer() }
                throw MerganserError.signedOut(record.reason)
            }
            return try await self.bootstrapDevice()
        }
    }

    /// Signs a user in, or up. A guest who is to keep what they have is linked or swapped instead.
    ///
    /// - Throws: besides, `accountDeleted`; `server` with `email_linked_to_other_apple_account` and the like.
    @discardableResult
    public func signIn(with credential: ProviderCredential) async throws -> Account {
        try await inTurn {
            try await self.recover()
            do {
                return try await self.startSession(credential)
            } catch MerganserError.server(409, "device_claimed_by_other_user", _) {
                // The device's secret is not the one stored here, so the device is lost in any case.
                try await self.forgetDevice()
                return try await self.startSession(credential)
            }
        }
    }

    /// Links a provider to the present user. A guest becomes a known user with the same id.
    ///
    /// - Throws: besides, `accountDeleted`; `server` with `provider_already_connected`, `identity_owned_by_another_account` (if
    ///   the present user is no guest) and the like.
    public func link(_ credential: ProviderCredential) async throws -> LinkOutcome {
        let body = CredentialBody(credential, anonymousID: anonymousID?())
        let answer = try await change(.link, "/api/v1/me/connected_identities", try Server.encoder.encode(body))
        if answer.status == 409, let ticket = try? Server.decoder.decode(TicketReply.self, from: answer.body) {
            return .ownedByAnotherAccount(SwapTicket(secret: ticket.swapTicket))
        }
        return .linked(try answer.decoded(LinkReply.self).user)
    }

    /// What `swap` would do. It changes nothing.
    ///
    /// - Throws: besides, `server` with `invalid_swap_ticket` and the like.
    public func preview(_ ticket: SwapTicket, moving selection: SwapSelection = .everything) async throws -> SwapPreview
    {
        var body = SwapBody(ticket, selection)
        body.dryRun = true
        let call = try Call("POST", "/api/v1/me/anonymous_swap", isRepeatable: true).json(body)
        return try await ask(call).decoded(SwapPreview.self)
    }

    /// Moves the guest's things into the account that owns the provider, and signs in there. The guest is gone for good.
    ///
    /// - Parameters:
    ///   - ticket: of the link that was refused.
    ///   - selection: what the guest takes along.
    ///   - plan: what the user saw; if something else would happen by now, nothing does.
    /// - Throws: besides, `server` with `plan_changed`, `invalid_swap_ticket` and the like.
    @discardableResult
    public func swap(
        _ ticket: SwapTicket, moving selection: SwapSelection = .everything, as plan: SwapPreview? = nil
    ) async throws -> SwapResult {
        var body = SwapBody(ticket, selection)
        body.deviceUUID = try device.read().uuid
        body.platform = platform
        body.anonymousID = anonymousID?()
        let answer = try await change(
            .swap, "/api/v1/me/anonymous_swap", try Server.encoder.encode(body), ifMatch: plan?.plan)
        return SwapResult(
            account: try answer.decoded(BootstrapReply.self).user, merged: try answer.decoded(SwapReply.self).merged)
    }

    // MARK: Merge

    /// A token by which another account of the same user, signed in elsewhere, absorbs this one. Five minutes, one use.
    public func mergeToken() async throws -> String {
        let call = try Call("POST", "/api/v1/me/merge/session-token", isRepeatable: true)
            .json(MergeTokenBody(idempotencyKey: .random()))
        return try await ask(call).decoded(MergeTokenReply.self).sessionToken
    }

    /// Has a code sent to another account's address. Whether there is such an account is not told.
    public func sendMergeCode(to email: String) async throws {
        _ = try await ask(Call("POST", "/api/v1/me/merge/otp").json(MergeBody(targetEmail: email)))
            .decoded(NoReply.self)
    }

    /// What `merge` would move. It changes nothing, but a wrong code counts as one of five tries.
    ///
    /// - Throws: as `merge`.
    public func preview(_ proof: MergeProof) async throws -> MergePreview {
        var body = MergeBody(proof)
        body.dryRun = true
        return try await ask(Call("POST", "/api/v1/me/merge").json(body)).decoded(MergePreview.self)
    }

    /// Absorbs another account of the same user: its things become this user's.
    ///
    /// - Parameters:
    ///   - proof: of the other account.
    ///   - plan: what the user saw; if something else would happen by now, nothing does.
    /// - Throws: besides, `server` with `invalid_otp`, `token_expired`, `token_consumed`, `self_merge_forbidden`,
    ///   `anonymous_requester`, `plan_changed`.
    @discardableResult
    public func merge(_ proof: MergeProof, as plan: MergePreview? = nil) async throws -> MergeResult {
        let body = try Server.encoder.encode(MergeBody(proof))
        return try await change(.merge, "/api/v1/me/merge", body, ifMatch: plan?.plan).decoded(MergeResult.self)
    }

    // MARK: Sign-out

    /// Forgets the user and the device, and revokes the token at the server. A guest is lost by it.
    ///
    /// - Throws: `storeUnavailable`: the user is still signed in. `offline`, `server`: the server has not revoked the token
    ///   yet; `start` tries again.
    public func signOut() async throws {
        try record.discardUndecodable()
        try device.discardUndecodable()
        try forget(revoking: true)
        try await SharedTask { try await self.revokeSignedOut() }.value
    }

    /// Deletes the account, and forgets the user and the device.
    ///
    /// Until `purgeAt` the server's operator can restore it. Where the server is set so, a sign-in with one of its providers
    /// does; else that throws `accountDeleted`. A guest's account cannot be restored by the guest.
    public func deleteAccount() async throws -> AccountDeletion {
        let user = try await presentUser(isRead: false)
        let deletion = try await ask(Call("DELETE", "/api/v1/me"), of: user).decoded(AccountDeletion.self)
        try forget(revoking: false, only: user)
        return deletion
    }

    /// - Parameter user: nobody else is signed out; nil for whoever it is.
    private func forget(revoking: Bool, only user: PresentUser? = nil) throws {
        let uuid = try device.read().uuid
        let state = try record.update { record in
            guard user?.isPresent(in: record) ?? true else { return record.state }
            if revoking, let token = record.token { record.revocations.append(token) }
            record.signOut(.requested, leaving: uuid)
            return record.state
        }
        streams.publish(state)
        // From here on the user is signed out; if the store fails now, `recover` goes on.
        try? forgetLeftDevice()
    }

    /// Forgets the device of a user who signed out: else it would bring them back. Another process may have made a new one.
    private func forgetLeftDevice() throws {
        guard let uuid = try record.read().leftDevice else { return }
        try device.update { if $0.uuid == uuid { $0 = DeviceRecord() } }
        try record.update { $0.forgot(uuid) }
    }

    private func forgetDevice() throws { try device.update { $0 = DeviceRecord() } }

    private func revokeSignedOut() async throws {
        for token in try load().revocations {
            var call = Call("DELETE", "/api/v1/auth/session", bearer: token)
            call.isRepeatable = true
            _ = try await server.answer(to: call)
            try record.update { $0.revocations.removeAll { $0 == token } }
        }
    }

    // MARK: Requests

    /// For whom a request is made. Whatever has come in between, it is not sent as somebody else.
    struct PresentUser: Sendable {
        private let generation: Int
        /// As it was when the request was made.
        let account: Account?

        fileprivate init(_ record: AccountRecord) { (generation, account) = (record.generation, record.signedIn) }

        fileprivate func isPresent(in record: AccountRecord) -> Bool { record.generation == generation }
    }

    /// First it finishes what may put somebody else in the present user's place, if that is under way. If that fails, the present
    /// user need not wait for it.
    ///
    /// - Parameter isRead: whether it may be somebody else by then. What changes something is the wish of whom the app shows.
    /// - Throws: `storeUnavailable`.
    func presentUser(isRead: Bool) async throws -> PresentUser {
        let record = try load()
        guard let pending = record.pending, [.signIn, .swap].contains(pending.operation) else {
            return PresentUser(record)
        }
        _ = try? await inTurn { try await self.recover() }
        return PresentUser(isRead || record.signedIn == nil ? try load() : record)
    }

    /// The present token.
    ///
    /// - Parameter isRead: whether it may be that of another account, which has absorbed the user's since.
    /// - Throws: `signedOut` if there is none, or it is another user's.
    private func token(of user: PresentUser, isRead: Bool) throws -> String {
        let record = try load()
        guard let token = record.token, user.isPresent(in: record) else {
            throw MerganserError.signedOut(record.reason)
        }
        guard isRead || record.account?.id == user.account?.id else { throw MerganserError.signedOut(.signInAgain) }
        return token
    }

    /// Sends a request with the present token. If the server does not accept the token any more, it is sent once more with
    /// a new one.
    func ask(_ call: Call) async throws -> Answer {
        try await ask(call, of: try await presentUser(isRead: call.isRead))
    }

    /// Like `ask`, as a user who may have been noted before.
    func ask(_ call: Call, of user: PresentUser) async throws -> Answer {
        try await ask(call, of: user) { server, call in
            try await server.answer(to: call) {
                _ = try token(of: user, isRead: call.isRead)
                return true
            }
        }
    }

    /// Like `ask`, with the answer's body in a file.
    func download(_ call: Call, to file: URL) async throws -> Answer {
        try await ask(call, of: try await presentUser(isRead: true)) { try await $0.download($1, to: file) }
    }

    private func ask(
        _ call: Call, of user: PresentUser, _ send: (Server, Call) async throws -> Answer
    ) async throws -> Answer {
        let isRead = call.isRead
        let token = try token(of: user, isRead: isRead)
        var call = call
        call.bearer = token
        let answer = try await send(server, call)
        guard answer.isDeadToken else { return answer }
        call.bearer = try await inTurn { try await self.renewedToken(of: user, insteadOf: token, isRead: isRead) }
        return try await send(server, call)
    }

    /// In turn.
    private func renewedToken(of user: PresentUser, insteadOf dead: String, isRead: Bool) async throws -> String {
        try await recover()
        let token = try token(of: user, isRead: isRead)
        if token != dead { return token }
        guard try device.read().secret != nil else {
            try record.update { if $0.token == dead { $0.signOut(.signInAgain) } }
            throw MerganserError.signedOut(.signInAgain)
        }
        _ = try await bootstrapDevice()
        return try self.token(of: user, isRead: isRead)
    }

    /// A request that changes the credential, with the present token: in turn, written down, sent, its answer stored.
    private func change(
        _ operation: PendingRequest.Operation, _ path: String, _ body: Data, ifMatch: String? = nil
    ) async throws -> Answer {
        let user = try await presentUser(isRead: false)
        return try await inTurn {
            try await self.recover()
            return try await self.changeNow(operation, path, body, ifMatch, of: user)
        }
    }

    private func changeNow(
        _ operation: PendingRequest.Operation, _ path: String, _ body: Data, _ ifMatch: String?, of user: PresentUser
    ) async throws -> Answer {
        let token = try token(of: user, isRead: false)
        let answer = try await send(
            PendingRequest(operation, path, bearer: token, ifMatch: ifMatch, body: body, at: server.clock.now), of: user
        )
        guard answer.isDeadToken else { return answer }
        let new = try await renewedToken(of: user, insteadOf: token, isRead: false)
        return try await send(
            PendingRequest(operation, path, bearer: new, ifMatch: ifMatch, body: body, at: server.clock.now), of: user)
    }

    private func startSession(_ credential: ProviderCredential) async throws -> Account {
        let device = try presentDevice()
        var body = CredentialBody(credential, anonymousID: anonymousID?())
        body.provider = nil
        (body.deviceUUID, body.deviceSecret, body.platform) = (device.uuid, device.secret, platform)
        let answer = try await send(
            PendingRequest(
                .signIn, "/api/v1/auth/\(credential.provider)/session", body: try Server.encoder.encode(body),
                at: server.clock.now))
        return try answer.decoded(BootstrapReply.self).user
    }

    /// Asks for the device's user (accounts §1.2).
    private func bootstrapDevice() async throws -> Account {
        // Before the device: it is forgotten when its user signs out.
        let user = PresentUser(try load())
        let device = try presentDevice()
        let body = BootstrapBody(
            deviceUUID: device.uuid, platform: platform, deviceSecret: device.secret, deviceName: deviceName,
            anonymousID: anonymousID?())
        let answer = try await send(
            PendingRequest(.bootstrap, "/api/v1/devices", body: try Server.encoder.encode(body), at: server.clock.now),
            of: user)
        if answer.code == "invalid_device_secret" {
            // A device whose first answer was lost has no secret and never will: nobody has used it, so begin anew.
            guard device.secret != nil else { return try await bootstrapDevice() }
            throw MerganserError.signedOut(try load().reason)
        }
        return try answer.decoded(BootstrapReply.self).user
    }

    /// The device, with a new id if there is none.
    private func presentDevice() throws -> DeviceRecord {
        try device.update { device in
            if device.uuid == nil { device = DeviceRecord(uuid: UUID().uuidString.lowercased()) }
            return device
        }
    }

    /// One after the other, each to its end, also if the caller leaves.
    private func inTurn<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let before = lastInLine
        let task = SharedTask {
            await before?.value
            return try await work()
        }
        lastInLine = Task { _ = try? await task.value }
        return try await task.value
    }

    // MARK: Write-ahead

    /// Finishes the request that is written down, if there is one: repeats it while the server knows its answer, else
    /// forgets it.
    private func recover() async throws {
        try forgetLeftDevice()
        if let pending = try load().pending {
            if pending.isForgotten(at: server.clock.now) {
                try record.update { if $0.pending == pending { $0.lose() } }
            } else {
                _ = try await finish(pending, isRepetition: true)
            }
        }
        try await learnOutcome()
    }

    /// After an answer was lost, the server says what became of the user, if the token is still good. If it is not, its
    /// renewal does.
    private func learnOutcome() async throws {
        let record = try load()
        guard record.hasLostAnswer, let token = record.token else { return }
        let call = Call("GET", "/api/v1/me", bearer: token, isRepeatable: false)
        guard let reply = try? await server.answer(to: call).decoded(ProfileReply.self) else { return }
        try store(reply.user, of: PresentUser(record)) { $0.clearLostAnswer() }
    }

    /// Writes down what the server said of the present user, unless something else was written since it was asked.
    func store(
        _ profile: Profile, of user: PresentUser, also change: (inout AccountRecord) -> Void = { _ in }
    ) throws {
        let state = try record.update { record in
            if user.isPresent(in: record), let account = record.signedIn, account == user.account,
                account.id == profile.id
            {
                record.update(Account(profile))
                change(&record)
            }
            return record.state
        }
        streams.publish(state)
    }

    private enum Beginning: Sendable {
        case first
        /// Another process has begun something since this one looked.
        case later
        case signedOut(SignedOutReason)
    }

    /// Writes a request down, sends it, and stores what its answer means.
    ///
    /// - Parameter user: for whom it is made; nil for whoever it is. Nothing is written down under somebody else.
    private func send(_ request: PendingRequest, of user: PresentUser? = nil) async throws -> Answer {
        let beginning = try record.update { record -> Beginning in
            if let user {
                guard user.isPresent(in: record) else { return .signedOut(record.reason) }
                let hasToken = request.bearer != nil
                guard !hasToken || record.account?.id == user.account?.id else { return .signedOut(.signInAgain) }
            }
            guard record.pending == nil else { return .later }
            record.begin(request)
            return .first
        }
        switch beginning {
        case .first: return try await finish(request, isRepetition: false)
        case .later:
            try await recover()
            return try await send(request, of: user)
        case .signedOut(let reason): throw MerganserError.signedOut(reason)
        }
    }

    /// - Parameter isRepetition: whether an earlier process, or an earlier call, may have sent it.
    private func finish(_ pending: PendingRequest, isRepetition: Bool) async throws -> Answer {
        let generation = try record.read().generation
        let answer = try await server.answer(to: Call(pending)) {
            let present = try record.read()
            if present.pending != pending, present.generation != generation, present.token == nil {
                throw MerganserError.signedOut(present.reason)
            }
            return present.pending == pending
        }
        // The request itself may have ended the token, and the server have forgotten that it answered.
        try settle(pending, answer, isLost: isRepetition && answer.isDeadToken)
        return answer
    }

    /// Stores what an answer means, if its request is still the pending one: then the credential is, too, that it was made
    /// from.
    ///
    /// - Throws: `signedOut` if the answer's user is not the present one: somebody signed out or in meanwhile.
    private func settle(_ pending: PendingRequest, _ answer: Answer, isLost: Bool) throws {
        let reply = try? answer.decoded(BootstrapReply.self)
        let user = try? reply?.user ?? answer.decoded(LinkReply.self).user
        let present = try record.read()
        guard present.pending == pending else {
            // Another process was faster, and may have done more since then.
            guard (200..<300).contains(answer.status) else { return }
            guard let signedIn = present.signedIn, user == nil || user?.id == signedIn.id else {
                throw MerganserError.signedOut(present.reason)
            }
            return
        }
        // First what the server shows only once. A process that ends here repeats the request.
        if let secret = reply?.deviceSecret, let uuid = reply?.device?.deviceUUID {
            try device.update { device in
                if device.uuid?.lowercased() == uuid.lowercased() { device.secret = secret }
            }
        }
        let refused = answer.code == "invalid_device_secret" ? try? pending.device : nil
        if let refused { try device.update { if $0 == refused { $0 = DeviceRecord() } } }
        let state = try record.update { [offset = server.clock.offset] record in
            guard record.pending == pending else { return record.state }
            record.clockOffset = offset
            if let reply {
                record.signIn(reply.accessToken, reply.user)
            } else if let user, user.id == record.account?.id {
                record.update(user)
                record.settle()
            } else if refused?.secret != nil {
                record.signOut(.deviceUnknown)
            } else if isLost {
                record.lose()
            } else {
                record.settle()
            }
            return record.state
        }
        streams.publish(state)
    }

    private func load() throws -> AccountRecord {
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

extension Answer {
    /// Whether the server does not accept the request's token any more. What it says of somebody else's credential has no
    /// challenge (accounts §3.1).
    fileprivate var isDeadToken: Bool { status == 401 && code == "invalid_token" && hasChallenge }
}

extension PendingRequest {
    /// The device that a bootstrap named.
    fileprivate var device: DeviceRecord {
        get throws {
            let sent = try Server.decoder.decode(SentDevice.self, from: body)
            return DeviceRecord(uuid: sent.deviceUUID, secret: sent.deviceSecret)
        }
    }

    private struct SentDevice: Decodable {
        let deviceUUID: String
        let deviceSecret: String?

        enum CodingKeys: String, CodingKey {
            case deviceUUID = "deviceUuid"
            case deviceSecret
        }
    }
}
