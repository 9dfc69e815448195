import Accounts

extension Call {
    /// Remembers what is wrong with an authorize request, for `/diagnose` and token answers (accounts §2.12). Failing to
    /// fails nothing.
    ///
    /// - Parameter dropped: scopes that were left out of the answer.
    func noteFaults(_ parameters: AuthorizationParameters, of application: Application, dropped: Scopes = Scopes("")) {
        do {
            for fault in parameters.faults(dropped: dropped) {
                try database.read { try $0.noteFault(fault, of: application.id, at: accounts.clock.now) }
            }
        } catch {
            logger.debug("fault not noted", metadata: ["error": "\(error)"])
        }
    }
}
