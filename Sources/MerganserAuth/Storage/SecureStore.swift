public import Foundation

/// Where credentials stay between launches.
///
/// An item is replaced as a whole, by several processes at once. There is deliberately no way to hold a lock: `update` ends
/// before anything is sent.
public protocol SecureStore: Sendable {
    /// An item's content; nil if the store has none.
    ///
    /// - Throws: `StoreFault` if the store cannot tell. That is not the same as having none.
    func read(_ item: StoredItem) throws(StoreFault) -> Data?

    /// Replaces an item's content, so that no change of another process comes between reading and writing.
    ///
    /// - Parameters:
    ///   - item: which one.
    ///   - change: gets the present content and returns the new; nil is none. It may be called more than once, and the last
    ///     call counts.
    /// - Throws: `StoreFault` if nothing was changed.
    func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault)
}

/// The name of an item. Items are stored apart from each other: in the Keychain under services of their own.
public struct StoredItem: Hashable, Sendable {
    /// What an item holds.
    public enum Kind: String, Sendable {
        /// The tokens of an app's user at one client_id.
        case tokens
        /// The bearer token of the server's own app.
        case account
        /// The device and its secret.
        case device
        /// The server's public keys.
        case keys
    }

    /// What it holds.
    public let kind: Kind
    /// Whose: a client_id or an issuer.
    public let owner: String

    /// Of a client_id or an issuer.
    public init(_ kind: Kind, of owner: String) {
        self.kind = kind
        self.owner = owner
    }
}

/// Why a store cannot tell what it holds.
public enum StoreFault: Error, Hashable, Sendable {
    /// The device has not been unlocked since it was started. Later it can.
    case locked
    /// The store or its content cannot be read or written.
    case unreadable(String)
    /// The store has a sign-in that a former SDK left. Who that is shows at the first refresh.
    case adopted
}

/// A store that ends with the process, for tests.
public final class InMemoryStore: SecureStore {
    private struct State: Sendable {
        var items: [StoredItem: Data] = [:]
        var fault: StoreFault?
    }

    private let state = Locked(State())

    /// An empty store.
    public init() {}

    /// What every call throws until it is nil again.
    public var fault: StoreFault? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    public func read(_ item: StoredItem) throws(StoreFault) -> Data? {
        let (content, fault) = state.withLock { ($0.items[item], $0.fault) }
        if let fault { throw fault }
        return content
    }

    public func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault) {
        while true {
            let present = try read(item)
            let new = try change(present)
            let isStored = state.withLock { state in
                guard state.items[item] == present, state.fault == nil else { return false }
                state.items[item] = new
                return true
            }
            if isStored { return }
        }
    }
}
