// Declarations of Apple's AppKit that MerganserAnalytics uses, from its documentation.
public import Foundation

@MainActor public final class NSApplication {
    public nonisolated static var didBecomeActiveNotification: Notification.Name { fatalError() }
    public nonisolated static var didResignActiveNotification: Notification.Name { fatalError() }
    public nonisolated static var willTerminateNotification: Notification.Name { fatalError() }
}
