import Crypto
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
    /// Holds the queue and the anonymous id. Made with mode 0700. By default the app has one for each endpoint: another key of the
    /// same app keeps both. What waits for the former endpoint is sent when an
    /// app uses it again.
    ///
    /// Whoever sets another folder sees to it that no other program uses it, and that what waits there may go to this endpoint
    /// with this key. Keys of two apps of the server in one program need a folder each.
    public var folder: URL {
        get { chosenFolder ?? defaultFolder }
        set { chosenFolder = newValue }
    }
    private var chosenFolder: URL?
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
    ///   - endpoint: the server's base URL.
    ///   - key: a client key of the app.
    ///   - bundleID: as registered with the server; nil for an app without one.
    ///   - device: what each event says of the device and the app.
    ///   - folder: by default one in `MerganserAnalytics` in the app's Application Support; on Linux in `merganser-analytics`
    ///     in `$XDG_STATE_HOME` or `~/.local/state`.
    public init(
        endpoint: URL, key: String, bundleID: String? = Bundle.main.bundleIdentifier,
        device: DeviceDescription = .current, folder: URL? = nil
    ) {
        self.endpoint = endpoint
        self.key = key
        self.bundleID = bundleID
        self.device = device
        chosenFolder = folder
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

    /// Tells of a loss in the background, whoever the caller is.
    func tell(_ loss: EventLoss) { Task(priority: .utility) { [onLoss] in onLoss(loss) } }

    /// Of this app or program and this endpoint: what is not sandboxed shares the folder that it is in. Not of the key, which is
    /// exchanged when it has leaked: what waits goes with the new one.
    private var defaultFolder: URL {
        let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        let server = SHA256.hash(data: Data(endpoint.withoutFinalSlash.utf8)).prefix(8).hexadecimal
        return Self.sharedFolder.appending(path: "\(program)-\(server)")
    }

    private static var sharedFolder: URL {
        #if canImport(Darwin)
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        return (folders.first ?? FileManager.default.temporaryDirectory).appending(path: "MerganserAnalytics")
        #else
        return URL(filePath: stateFolder(of: "merganser-analytics"))
        #endif
    }
}
