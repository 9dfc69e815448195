// Declarations of Foundation's notifications on Apple's systems that MerganserAnalytics uses, from their documentation.
public import Foundation

extension NotificationCenter {
    public struct Notifications: AsyncSequence, Sendable {
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async -> Notification? { fatalError() }
        }

        public func makeAsyncIterator() -> AsyncIterator { fatalError() }
    }

    public func notifications(
        named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
    ) -> Notifications { fatalError() }
}
