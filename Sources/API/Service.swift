package import Accounts
package import Analytics
import JSON
package import Logging
package import Mail
package import Pages
package import Push
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
    let router = Router(Routes.all)
    /// The URL of the page that explains OAuth's error codes. The fragment for an error is its code (accounts §0.2).
    let errorDocsBase: String
    /// The OpenID configuration, which is the same for every request.
    let discovery: [UInt8]
    let ownApps: OwnApps
    let brand: Brand
    /// Sends mail; nil if no sender is configured.
    let mail: MailQueue?
    /// Sends notifications to phones; nil if no sender is configured, so that nobody approves there.
    let push: PushQueue?
    /// Whether the login page offers a code to scan with the app.
    let offersCodes: Bool
    /// Limits the requests that wait for a slow peer.
    let slowPeers: SlowPeerGate
    package let loadShedder: LoadShedder

    package init(
        accounts: Accounts, analytics: Analytics, front: Front, errorDocsBase: String, ownApps: OwnApps = OwnApps(),
        brand: Brand = .merganser, mail: MailQueue? = nil, push: PushQueue? = nil, offersCodes: Bool = true,
        slowPeers: SlowPeerGate, loadShedder: LoadShedder,
        logger: Logger
    ) {
        self.accounts = accounts
        self.analytics = analytics
        self.front = front
        self.errorDocsBase = errorDocsBase
        discovery = DiscoveryDocument(issuer: accounts.settings.issuer).json()
        self.ownApps = ownApps
        self.brand = brand
        self.mail = mail
        self.push = push
        self.offersCodes = offersCodes
        self.slowPeers = slowPeers
        self.loadShedder = loadShedder
        self.logger = logger
    }
}
