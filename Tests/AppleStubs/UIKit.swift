// Declarations of Apple's UIKit that the client libraries use, from its documentation.
public import Foundation

@MainActor open class UIWindow {
    public init() {}

    public var isKeyWindow: Bool { false }
}

@MainActor open class UIScene: NSObject {}

@MainActor public final class UIWindowScene: UIScene {
    public var windows: [UIWindow] { [] }
}

/// A selector of Objective-C, which Linux has not.
public struct Selector: Hashable, Sendable {
    let name: String
}

public func NSSelectorFromString(_ name: String) -> Selector { Selector(name: name) }

@MainActor public final class UIApplication: NSObject {
    public struct OpenExternalURLOptionsKey: Hashable, Sendable {
        public static let universalLinksOnly = OpenExternalURLOptionsKey()
    }

    public nonisolated static var didEnterBackgroundNotification: Notification.Name { .init("background") }
    public nonisolated static var willEnterForegroundNotification: Notification.Name { .init("foreground") }
    public nonisolated static var willTerminateNotification: Notification.Name { .init("terminate") }

    // Apple declares it with `@available(iOSApplicationExtension, unavailable)`, which means nothing on Linux.
    @available(*, unavailable, message: "The libraries are for widgets and other extensions, too.")
    public static var shared: UIApplication { fatalError() }

    /// The app that a check runs as; nil in an extension.
    public static var application: UIApplication? = UIApplication()

    public static func responds(to selector: Selector) -> Bool {
        selector.name == "sharedApplication" && application != nil
    }

    public static func perform(_ selector: Selector) -> Unmanaged<AnyObject>? {
        application.map { Unmanaged<AnyObject>.passUnretained($0) }
    }

    public var connectedScenes: Set<UIScene> { [] }

    /// Whether the server's own app is installed.
    public static var opensUniversalLinks = false

    public func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:]) async -> Bool {
        Self.opensUniversalLinks
    }
}

extension ProcessInfo {
    /// Foundation's, on Apple's systems other than macOS.
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
        Thread { block(false) }.start()
    }
}
