// Declarations of Apple's UIKit that MerganserAnalytics uses, from its documentation.
public import Foundation

public struct UIBackgroundTaskIdentifier: Hashable, Sendable {
    public static let invalid = UIBackgroundTaskIdentifier()
}

@MainActor public final class UIApplication {
    public nonisolated static var didEnterBackgroundNotification: Notification.Name { fatalError() }
    public nonisolated static var willEnterForegroundNotification: Notification.Name { fatalError() }
    public nonisolated static var willTerminateNotification: Notification.Name { fatalError() }
    public static var shared: UIApplication { fatalError() }

    public func beginBackgroundTask(
        withName name: String?, expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { fatalError() }
    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}
