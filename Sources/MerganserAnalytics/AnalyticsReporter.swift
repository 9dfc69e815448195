import Foundation
import MerganserClient

/// Reports events of one app to one server: takes them without delay, keeps them on disk, sends them in the background.
///
/// What reports (`track`, `screen`, `start`, `record`, `step`) returns at once: it neither waits for the disk or the
/// network nor throws. `MerganserAnalytics` has the same calls for the whole app.
public final class AnalyticsReporter: Sendable {
    let config: AnalyticsConfig
    let intake: Intake
    let journal: Journal
    let uploader: Uploader
    let server: AnalyticsServer
    private let clock: EventClock
    private let worker: Task<Void, Never>
    private let platform = Locked(Platform())

    /// What watches the app for the reporter, which it knows.
    private struct Platform: Sendable {
        var lifecycle: Lifecycle?
        var connection: ConnectionMonitor?
    }

    /// How often the journal looks for events while there are some, and while there are none. Callers do not wake it,
    /// because that alone would cost them ten times as much as the rest.
    private static let (shortest, longest) = (Duration.milliseconds(50), Duration.seconds(1))

    /// - Throws: `configurationRefused`; `storeUnavailable` if the folder cannot be used, such as before the first unlock.
    public init(_ config: AnalyticsConfig) throws(AnalyticsError) {
        try config.check()
        self.config = config
        do {
            let file = try ReplacedFile(folder: config.folder.path, name: "identity.json")
            let state = try SavedState.load(from: file, report: config.tell)
            clock = EventClock(config.clock)
            intake = Intake(
                anonymousID: state.anonymousID,
                context: EventContext(
                    userID: state.userID ?? state.anonymousID, sessionID: UUID().uuidString, connection: .unknown))
            var limits = EventQueue.Limits()
            limits.size = config.queueSize
            journal = try Journal(
                intake, state: state, file: file, folder: config.folder,
                encoder: EventEncoder(device: config.device, isDevelopment: config.isDevelopment), limits: limits,
                clock: clock, report: config.onLoss)
        } catch { throw .storeUnavailable("\(error)") }
        server = AnalyticsServer(base: config.endpoint, key: config.key, transport: config.transport, clock: clock)
        uploader = Uploader(
            journal, server: server, bundleID: config.bundleID, delay: config.uploadDelay, backoff: config.backoff,
            clock: config.clock, eventClock: clock, report: config.onLoss)

        worker = Task(priority: .utility) { [journal, uploader] in
            if await !journal.isEmpty { await uploader.schedule() }
            var pause = Self.shortest
            while !Task.isCancelled {
                // The system may put it together with what else it wakes for.
                try? await ContinuousClock().sleep(for: pause, tolerance: pause / 2)
                let hasNew = await journal.drain()
                pause = hasNew ? Self.shortest : min(pause * 2, Self.longest)
                if hasNew { await uploader.schedule() }
            }
        }
        begin()
    }

    deinit { worker.cancel() }

    private func begin() {
        let connection = ConnectionMonitor { [weak self] in self?.connect($0) }
        let lifecycle = Lifecycle(self)
        platform.withLock { $0 = Platform(lifecycle: lifecycle, connection: connection) }
        track("sdk:session_started", attributes: ["_launch_ms": launchMilliseconds().map(String.init)])
        if config.capturesAttribution {
            Task(priority: .background) { [weak self] in await self?.captureAttribution() }
        }
    }

    private func connect(_ connection: Connection) {
        let wasOffline = intake.context.connection == .offline
        intake.connect(connection)
        if wasOffline, connection != .offline { Task { [uploader] in await uploader.flush() } }
    }

    // MARK: Events

    /// Reports an event.
    ///
    /// - Parameters:
    ///   - message: 2000 characters at most are kept.
    ///   - level: an `error` is written to disk at once, others within two seconds.
    ///   - screen: where the user is.
    ///   - attributes: nil values are left out; 200 characters of a value at most are kept.
    ///   - attachments: files that are sent with it.
    ///   - source: where it is reported; by default the caller's place in its file.
    public func track(
        _ message: String, level: EventLevel = .info, screen: String? = nil, attributes: [String: String?] = [:],
        attachments: [EventAttachment] = [], source: SourceLocation = SourceLocation()
    ) {
        let isHalfFull = intake.push(
            message, level, screen: screen, attributes: attributes, attachments: attachments,
            milliseconds: clock.milliseconds, source: source)
        // After an error the process may have little time left.
        if isHalfFull || level == .error { drain() }
    }

    /// Has the journal take what there is, now.
    private func drain() {
        Task(priority: .utility) { [journal, uploader] in
            if await journal.drain() { await uploader.schedule() }
        }
    }

    /// Reports an error: its type, its causes and where it was met. Takes longer than other events, for the call stack.
    ///
    /// - Parameters:
    ///   - error: what went wrong.
    ///   - message: what the app was doing; by default the error's own description.
    ///   - screen: where the user is.
    ///   - attributes: as of other events; those of the error itself win over the same names.
    ///   - attachments: files that are sent with it.
    ///   - source: where it is reported; by default the caller's place in its file.
    public func track(
        _ error: any Error, _ message: String? = nil, screen: String? = nil, attributes: [String: String?] = [:],
        attachments: [EventAttachment] = [], source: SourceLocation = SourceLocation()
    ) {
        let told = ErrorAttributes.of(error, message: message, stack: Thread.callStackSymbols)
        track(
            told.message, level: .error, screen: screen, attributes: attributes.merging(told.attributes) { $1 },
            attachments: attachments, source: source)
    }

    /// Reports a step of a funnel.
    public func step(
        _ name: String, attributes: [String: String?] = [:], source: SourceLocation = SourceLocation()
    ) {
        track("step:\(name)", attributes: attributes, source: source)
    }

    /// Reports that a screen appeared. Call `disappeared` on the result when it is left.
    @discardableResult
    public func screen(_ name: String, source: SourceLocation = SourceLocation()) -> ScreenView {
        track("sdk:screen_appeared", screen: name, source: source)
        return ScreenView(name: name, reporter: self)
    }

    /// Reports that an operation begins. Call `complete`, `fail` or `cancel` on the result when it ends.
    ///
    /// - Parameters:
    ///   - metric: of `a-z`, `0-9` and hyphens; other characters become hyphens.
    ///   - attributes: as of `track`.
    ///   - source: where it is reported; by default the caller's place in its file.
    public func start(
        _ metric: String, attributes: [String: String?] = [:], source: SourceLocation = SourceLocation()
    ) -> TrackedOperation {
        let operation = TrackedOperation(metric: MetricSlug.of(metric), reporter: self)
        operation.report(.start, .info, attributes, source)
        return operation
    }

    /// Reports a metric that has no duration.
    ///
    /// - Parameters:
    ///   - metric: as in `start`.
    ///   - attributes: as of `track`.
    ///   - source: where it is reported; by default the caller's place in its file.
    public func record(
        _ metric: String, attributes: [String: String?] = [:], source: SourceLocation = SourceLocation()
    ) {
        track("metric:\(MetricSlug.of(metric)):record", attributes: attributes, source: source)
    }

    // MARK: Identity

    /// The session of this process, a UUID.
    public var sessionID: String { intake.context.sessionID }

    /// Whose events are reported: the user's id, or the anonymous id.
    public var userID: String { intake.context.userID }

    /// `owl_anon_` and a UUID; stays until `signOut` asks for another.
    public var anonymousID: String { intake.anonymousID }

    /// Says who is signed in. What was reported under the anonymous id becomes theirs (analytics §5).
    ///
    /// - Parameter userID: an id that stays the same, such as the `sub` of the claims. Not `effectiveSub`: a merge changes it,
    ///   and for analytics that is another user.
    public func signIn(_ userID: String) {
        intake.signIn(userID)
        drain()
    }

    /// Says that nobody is signed in any more.
    ///
    /// - Parameter renewingAnonymousID: whether what follows is somebody else's. Without it, the server gives it to the
    ///   user who signed in last on this device. Use it where people share a device.
    public func signOut(renewingAnonymousID: Bool = false) {
        let new = renewingAnonymousID ? SavedState.newAnonymousID() : nil
        if let new { KeptAnonymousID.write(new) }
        intake.signOut(anonymousID: new)
        drain()
    }

    /// Changes properties of the present user; others stay as they are. An empty value removes one.
    ///
    /// They are kept on disk until the server has them. A key of more than 50 characters or an empty one is left out and
    /// reported; of a value 200 characters at most are kept.
    public func update(_ properties: [String: String]) {
        var kept: [String: String] = [:]
        for (key, value) in properties {
            guard !key.isEmpty, key.utf16.count <= 50 else {
                config.tell(.refused(events: 1, status: 400, message: "Property keys have 1 to 50 characters."))
                continue
            }
            kept[key.replacing("\0", with: "")] = EventEncoder.cut(value.replacing("\0", with: ""), utf16: 200)
        }
        guard !kept.isEmpty else { return }
        intake.update(kept)
        drain()
    }

    // MARK: Delivery

    /// Returns when everything reported so far is on disk.
    public func persist() async {
        await journal.persist()
        await uploader.schedule()
    }

    /// Sends everything reported so far, now, unless the server asked for patience.
    ///
    /// - Returns: whether nothing of it waits any more: the server has it, or `onLoss` was told why not.
    @discardableResult
    public func flush() async -> Bool {
        await journal.persist()
        return await uploader.flush()
    }
}
