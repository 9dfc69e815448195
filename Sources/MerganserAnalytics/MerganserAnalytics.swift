import MerganserClient

/// Reporting events to one server, for the whole app. Each member is one call of an `AnalyticsReporter`.
///
/// What reports before `configure` is dropped; what waits for the server throws `notConfigured`.
public enum MerganserAnalytics {
    private static let configured = Locked<AnalyticsReporter?>(nil)

    /// Says where events go. Call it once, first.
    ///
    /// - Throws: as `AnalyticsReporter.init`. After `storeUnavailable` call it again, at the latest when the user opens the app:
    ///   until then what is reported is dropped.
    public static func configure(_ config: AnalyticsConfig) throws(AnalyticsError) {
        let reporter = try AnalyticsReporter(config)
        configured.withLock { $0 = reporter }
    }

    /// The reporter that the other members use.
    ///
    /// - Throws: `notConfigured`.
    public static var reporter: AnalyticsReporter {
        get throws(AnalyticsError) {
            guard let reporter = configured.withLock({ $0 }) else { throw .notConfigured }
            return reporter
        }
    }

    private static var present: AnalyticsReporter? { configured.withLock { $0 } }

    /// Reports an event, as `AnalyticsReporter.track`.
    public static func track(
        _ message: String, level: EventLevel = .info, screen: String? = nil, attributes: [String: String?] = [:],
        attachments: [EventAttachment] = [], source: SourceLocation = SourceLocation()
    ) {
        present?.track(
            message, level: level, screen: screen, attributes: attributes, attachments: attachments, source: source)
    }

    /// Reports an error, as `AnalyticsReporter.track`.
    public static func track(
        _ error: any Error, _ message: String? = nil, screen: String? = nil, attributes: [String: String?] = [:],
        attachments: [EventAttachment] = [], source: SourceLocation = SourceLocation()
    ) {
        present?.track(
            error, message, screen: screen, attributes: attributes, attachments: attachments, source: source)
    }

    /// Reports a step of a funnel.
    public static func step(
        _ name: String, attributes: [String: String?] = [:], source: SourceLocation = SourceLocation()
    ) { present?.step(name, attributes: attributes, source: source) }

    /// Reports that a screen appeared; nil if the app is not configured.
    @discardableResult
    public static func screen(_ name: String, source: SourceLocation = SourceLocation()) -> ScreenView? {
        present?.screen(name, source: source)
    }

    /// Reports that an operation begins, as `AnalyticsReporter.start`; nil if the app is not configured.
    public static func start(
        _ metric: String, attributes: [String: String?] = [:], source: SourceLocation = SourceLocation()
    ) -> TrackedOperation? { present?.start(metric, attributes: attributes, source: source) }

    /// Reports a metric that has no duration.
    public static func record(
        _ metric: String, attributes: [String: String?] = [:], source: SourceLocation = SourceLocation()
    ) { present?.record(metric, attributes: attributes, source: source) }

    /// Says who is signed in, as `AnalyticsReporter.signIn`.
    public static func signIn(_ userID: String) { present?.signIn(userID) }

    /// Says that nobody is signed in any more, as `AnalyticsReporter.signOut`.
    public static func signOut(renewingAnonymousID: Bool = false) {
        present?.signOut(renewingAnonymousID: renewingAnonymousID)
    }

    /// Changes properties of the present user, as `AnalyticsReporter.update`.
    public static func update(_ properties: [String: String]) { present?.update(properties) }

    /// Sends what the user wrote.
    ///
    /// - Throws: `notConfigured`, and as `AnalyticsReporter.sendFeedback`.
    @discardableResult
    public static func sendFeedback(
        _ message: String, name: String? = nil, email: String? = nil
    ) async throws(AnalyticsError) -> FeedbackReceipt {
        try await reporter.sendFeedback(message, name: name, email: email)
    }

    /// Sends everything reported so far, as `AnalyticsReporter.flush`.
    @discardableResult
    public static func flush() async -> Bool { await present?.flush() ?? true }
}
