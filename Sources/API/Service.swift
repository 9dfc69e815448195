package import Accounts
package import Analytics
import JSON
package import Logging
package import Mail
package import Threads

/// What all worker threads share to answer requests.
///
/// This target owns the wire: the route table, one file for each endpoint, the order of checks that every request
/// passes, and the form of refusals. It has no rules and no SQL.
package final class Service: Sendable {
    package let accounts: Accounts
    package let analytics: Analytics
    let front: Front
    package let logger: Logger
    package let metrics = RequestMetrics()
    let router = Router(Routes.accounts + Routes.oauth + Routes.analytics)
    /// The URL of the page that explains OAuth's error codes. The fragment for an error is its code (accounts §0.2).
    let errorDocsBase: String
    /// The OpenID configuration, which is the same for every request.
    let discovery: [UInt8]
    let ownApps: OwnApps
    /// Sends mail; nil if no sender is configured.
    let mail: MailQueue?
    /// Limits the requests that wait for a slow peer.
    let slowPeers: SlowPeerGate
    package let loadShedder: LoadShedder

    package init(
        accounts: Accounts, analytics: Analytics, front: Front, errorDocsBase: String, ownApps: OwnApps = OwnApps(),
        mail: MailQueue? = nil, slowPeers: SlowPeerGate, loadShedder: LoadShedder, logger: Logger
    ) {
        self.accounts = accounts
        self.analytics = analytics
        self.front = front
        self.errorDocsBase = errorDocsBase
        discovery = DiscoveryDocument(issuer: accounts.settings.issuer).json()
        self.ownApps = ownApps
        self.mail = mail
        self.slowPeers = slowPeers
        self.loadShedder = loadShedder
        self.logger = logger
    }
}
