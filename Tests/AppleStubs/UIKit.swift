// Declarations of Apple's UIKit that SystemBrowser uses, from its documentation.
public import Foundation

@MainActor open class UIWindow {
    public init() {}

    public var isKeyWindow: Bool { fatalError() }
}

@MainActor open class UIScene: NSObject {}

@MainActor public final class UIWindowScene: UIScene {
    public var windows: [UIWindow] { fatalError() }
}

@MainActor public final class UIApplication {
    public struct OpenExternalURLOptionsKey: Hashable, Sendable {
        public static let universalLinksOnly = OpenExternalURLOptionsKey()
    }

    public static var shared: UIApplication { fatalError() }

    public var connectedScenes: Set<UIScene> { fatalError() }

    public func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:]) async -> Bool { fatalError() }
}
