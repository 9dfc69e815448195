public import Foundation
public import MerganserClient

/// Where events go, and as whose.
public struct AnalyticsConfig: Sendable {
    /// The server's base URL: `https://id.example.com`.
    public var endpoint: URL
    /// A client key of the app: `owl_client_…`.
    public var key: String
    /// As registered with the server; nil for an app without one.
    public var bundleID: String?
    /// What each event says of the device and the app.
    public var device: DeviceDescription
    /// Whether events count as those of development. By default whether the library was built for debugging.
    public var isDevelopment: Bool
    /// Holds the queue. Made with mode 0700; in the app's own container, not in one that it shares.
    public var folder: URL
    /// From an event until it is sent, so that those which follow go with it.
    public var uploadDelay: Duration = .seconds(5)
    /// Whether Apple's attribution token is handed over once for each install.
    public var capturesAttribution = true
    /// Called in the background when events are lost.
    public var onLoss: @Sendable (EventLoss) -> Void = { _ in }
    /// Carries requests.
    public var transport: any Transport = URLSessionTransport()
    /// The device's.
    public var clock: any DeviceClock = SystemClock()
    /// Of the queue on disk, in bytes. Beyond it the oldest events are dropped.
    public var queueSize = 8 * 1024 * 1024
    package var backoff = Backoff(base: .seconds(1), longest: .seconds(600), attempts: .max)

    /// - Parameters:
    ///   - folder: by default `MerganserAnalytics` in the app's Application Support; on Linux `merganser-analytics` in
    ///     `$XDG_STATE_HOME` or `~/.local/state`.
    public init(
        endpoint: URL, key: String, bundleID: String? = Bundle.main.bundleIdentifier,
        device: DeviceDescription = .current, folder: URL? = nil
    ) {
        self.endpoint = endpoint
        self.key = key
        self.bundleID = bundleID
        self.device = device
        self.folder = folder ?? Self.defaultFolder
        #if DEBUG
        isDevelopment = true
        #else
        isDevelopment = false
        #endif
    }

    /// - Throws: `configurationRefused`.
    func check() throws(AnalyticsError) {
        guard endpoint.canCarryCredentials, !key.isEmpty else { throw .configurationRefused }
    }

    private static var defaultFolder: URL {
        #if canImport(Darwin)
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        return (folders.first ?? FileManager.default.temporaryDirectory).appending(path: "MerganserAnalytics")
        #else
        return URL(filePath: stateFolder(of: "merganser-analytics"))
        #endif
    }
}
