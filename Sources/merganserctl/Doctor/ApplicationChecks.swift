import Accounts
import MariaDB

/// Applications and changes that wait for the operator's approval.
struct ApplicationChecks {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func findings() throws -> [Finding] {
        let count = try connection.applicationsAwaitingApproval()
        return [
            count == 0
                ? .ok("applications", "none are waiting for approval")
                : .warn(
                    "applications", "waiting for approval, new or with changes: \(count)",
                    "merganserctl application list, then show, then approve or refuse")
        ]
    }
}
