import Accounts
import Database
import Logging
import Time

extension Call {
    /// Records the faults of an authorize request, for `/diagnose` and token answers (accounts §2.12). If that fails,
    /// the request goes on.
    ///
    /// - Parameter dropped: scopes that the answer lacks.
    func noteFaults(_ parameters: AuthorizationParameters, of application: Application, dropped: Scopes = Scopes("")) {
        note(parameters.faults(dropped: dropped), of: application)
    }

    /// Records known faults.
    func note(_ faults: [AuthorizationFault], of application: Application) {
        do {
            for fault in faults {
                try database.autocommit { try $0.noteFault(fault, of: application.id, at: accounts.clock.now) }
            }
        } catch {
            logger.debug("a fault could not be recorded", metadata: ["error": "\(error)"])
        }
    }
}
