import Accounts
import TestSupport
import Time

/// Where a test's requests enter. The same body of tests holds at both, for the routes that matter.
///
/// A test that comes through nginx shares the schema with others, so it looks at answers rather than at tables, and names
/// nobody but by `TestApp.own` and a scene's numbers.
enum Doorway: CaseIterable, Sendable {
    /// The responder is called in this process.
    case inProcess
    /// nginx, as `make run` starts it, and `merganserd` behind it.
    case nginx
}

extension TestApp {
    /// The clock stands still in this process only.
    convenience init(through doorway: Doorway) throws {
        switch doorway {
        case .inProcess: try self.init()
        case .nginx:
            let server = try SharedServer.running()
            try self.init(
                settings: AccountsSettings(issuer: server.url), database: server.database,
                time: TestClock(Clock.system.now), server: server)
        }
    }
}
