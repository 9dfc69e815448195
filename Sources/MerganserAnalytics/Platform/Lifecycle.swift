#if canImport(UIKit)
internal import Foundation
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
internal import Foundation
#endif

#if canImport(UIKit) || canImport(AppKit)
/// Tells a reporter when the app comes and goes, and sends what there is before the app sleeps.
final class Lifecycle: Sendable {
    private let tasks: [Task<Void, Never>]

    init(_ reporter: AnalyticsReporter) {
        #if canImport(UIKit)
        tasks = [
            Self.each(UIApplication.willEnterForegroundNotification) { [weak reporter] in
                reporter?.track("sdk:app_foregrounded")
            },
            Self.each(UIApplication.didEnterBackgroundNotification) { [weak reporter] in
                let time = BackgroundTime()
                reporter?.track("sdk:app_backgrounded")
                await reporter?.flush()
                time.end()
            },
            Self.each(UIApplication.willTerminateNotification) { [weak reporter] in await reporter?.persist() },
        ]
        #else
        tasks = [
            Self.each(NSApplication.didBecomeActiveNotification) { [weak reporter] in
                reporter?.track("sdk:app_foregrounded")
            },
            Self.each(NSApplication.didResignActiveNotification) { [weak reporter] in _ = await reporter?.flush() },
            Self.each(NSApplication.willTerminateNotification) { [weak reporter] in await reporter?.persist() },
        ]
        #endif
    }

    deinit {
        for task in tasks { task.cancel() }
    }

    private static func each(
        _ name: Notification.Name, _ body: @escaping @MainActor @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task { @MainActor in
            for await _ in NotificationCenter.default.notifications(named: name).map({ _ in () }) { await body() }
        }
    }
}
#else
/// Programs on Linux say themselves when to flush.
final class Lifecycle: Sendable {
    init(_ reporter: AnalyticsReporter) {}
}
#endif

#if canImport(UIKit)
/// The system's patience with an app in the background. When it ends, events are on disk, and go with the next launch.
@MainActor private final class BackgroundTime {
    private var task = UIBackgroundTaskIdentifier.invalid

    init() {
        task = UIApplication.shared.beginBackgroundTask(withName: "MerganserAnalytics") { [weak self] in self?.end() }
    }

    func end() {
        guard task != .invalid else { return }
        UIApplication.shared.endBackgroundTask(task)
        task = .invalid
    }
}
#endif
