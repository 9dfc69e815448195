public import Foundation

/// The device's two clocks. A test that cannot wait passes its own.
public protocol DeviceClock: Sendable {
    /// What the device believes the time to be; people can set it.
    var date: Date { get }
    /// Time since some moment, also while the device sleeps. It never jumps, and means nothing in another process.
    var uptime: Duration { get }
    /// Returns after `duration`.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The clocks of the system.
public struct SystemClock: DeviceClock {
    private static let start = ContinuousClock.now

    /// The clocks of this device.
    public init() {}

    public var date: Date { Date() }
    public var uptime: Duration { ContinuousClock.now - Self.start }
    public func sleep(for duration: Duration) async throws { try await ContinuousClock().sleep(for: duration) }
}
