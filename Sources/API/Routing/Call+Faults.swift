import Accounts

extension Call {
    /// Remembers what is wrong with an authorize request, for `/diagnose` and token answers (accounts §2.12). Failing to
    /// fails nothing.
    ///
    /// - Parameter dropped: scopes that were left out of the answer.
    func noteFaults(_ parameters: AuthorizationParameters, of application: Application, dropped: Scopes = Scopes("")) {
        note(parameters.faults(dropped: dropped), of: application)
    }

    /// The same of a request whose faults are known.
    func note(_ faults: [AuthorizationFault], of application: Application) {
        do {
            for fault in faults {
                try database.read { try $0.noteFault(fault, of: application.id, at: accounts.clock.now) }
            }
        } catch {
            logger.debug("a fault could not be recorded", metadata: ["error": "\(error)"])
        }
    }
}
