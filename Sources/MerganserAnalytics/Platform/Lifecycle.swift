#if canImport(UIKit) || canImport(AppKit)
internal import Dispatch
internal import Foundation
#if canImport(UIKit)
internal import UIKit
#else
internal import AppKit
#endif
internal import MerganserClient

/// Tells a reporter when the app comes and goes, and sends what there is before the app sleeps.
///
/// Everything happens before the notification returns, or is under way then: afterwards the system may suspend the app or end it.
final class Lifecycle: Sendable {
    /// NotificationCenter's, whose methods may be called anywhere; nothing else is done with it.
    private struct Observation: @unchecked Sendable {
        let token: any NSObjectProtocol
    }

    private let observations: [Observation]

    #if canImport(UIKit)
    private static let (comes, goes, ends) = (
        UIApplication.willEnterForegroundNotification, UIApplication.didEnterBackgroundNotification,
        UIApplication.willTerminateNotification
    )
    #else
    private static let (comes, goes, ends) = (
        NSApplication.didBecomeActiveNotification, NSApplication.didResignActiveNotification,
        NSApplication.willTerminateNotification
    )
    #endif
    /// How long the end of the app waits for the disk, in seconds. The system ends an app that takes more than some seconds.
    private static let patience = 2.0

    init(_ reporter: AnalyticsReporter) {
        observations = [
            Self.on(Self.comes) { [weak reporter] in reporter?.track("sdk:app_foregrounded") },
            Self.on(Self.goes) { [weak reporter] in
                guard let reporter else { return }
                reporter.track("sdk:app_backgrounded")
                Self.stayAwake { _ = await reporter.flush() }
            },
            Self.on(Self.ends) { [weak reporter] in
                guard let reporter else { return }
                let isDone = DispatchSemaphore(value: 0)
                Task.detached {
                    await reporter.persist()
                    isDone.signal()
                }
                _ = isDone.wait(timeout: .now() + Self.patience)
            },
        ]
    }

    deinit {
        for observation in observations { NotificationCenter.default.removeObserver(observation.token) }
    }

    private static func on(_ name: Notification.Name, _ body: @escaping @Sendable () -> Void) -> Observation {
        Observation(
            token: NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in body() })
    }

    /// Does work for which the system keeps an app in the background awake, for a while. When it stops, events are on disk, and
    /// go with the next launch.
    private static func stayAwake(_ work: @escaping @Sendable () async -> Void) {
        #if canImport(UIKit)
        let isDone = DispatchSemaphore(value: 0)
        // Not `UIApplication.beginBackgroundTask`: an extension has no `UIApplication.shared`.
        ProcessInfo.processInfo.performExpiringActivity(withReason: "MerganserAnalytics") { isExpired in
            // The system is patient until this returns, and calls a second time to end it.
            if isExpired { isDone.signal() } else { isDone.wait() }
        }
        Task {
            await work()
            isDone.signal()
        }
        #else
        Task { await work() }
        #endif
    }
}
#else
/// Programs on Linux say themselves when to flush.
final class Lifecycle: Sendable {
    init(_ reporter: AnalyticsReporter) {}
}
#endif
