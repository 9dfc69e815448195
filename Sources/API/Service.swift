package import Accounts
package import Analytics
import JSON
package import Logging
package import Threads

/// What all worker threads share to answer requests.
///
/// This target owns the wire: the route table, one file an endpoint, the order of checks every request goes through, and
/// how a refusal is written. It holds no rules and no SQL.
package final class Service: Sendable {
    package let accounts: Accounts
    package let analytics: Analytics
    let front: Front
    package let logger: Logger
    package let metrics = RequestMetrics()
    let router = Router(Routes.accounts + Routes.oauth + Routes.analytics)
    /// Where the OAuth error codes are explained; an error's fragment is its code (accounts §0.2).
    let errorDocsBase: String
    /// The answer to everybody who asks for the provider's configuration.
    let discovery: [UInt8]
    let ownApps: OwnApps
    /// Requests that wait for somebody outside go through it.
    let slowPeers: SlowPeerGate
    package let loadShedder: LoadShedder

    package init(
        accounts: Accounts, analytics: Analytics, front: Front, errorDocsBase: String, ownApps: OwnApps = OwnApps(),
        slowPeers: SlowPeerGate, loadShedder: LoadShedder, logger: Logger
    ) {
        self.accounts = accounts
        self.analytics = analytics
        self.front = front
        self.errorDocsBase = errorDocsBase
        discovery = DiscoveryDocument(issuer: accounts.settings.issuer).json()
        self.ownApps = ownApps
        self.slowPeers = slowPeers
        self.loadShedder = loadShedder
        self.logger = logger
    }
}
