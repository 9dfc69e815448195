// Declarations of Apple's AppKit that the client libraries use, from its documentation.
public import Foundation

@MainActor open class NSWindow {
    public init() {}
}

@MainActor public final class NSApplication {
    public nonisolated static var didBecomeActiveNotification: Notification.Name { .init("foreground") }
    public nonisolated static var didResignActiveNotification: Notification.Name { .init("background") }
    public nonisolated static var willTerminateNotification: Notification.Name { .init("terminate") }
}
