package import MariaDB

extension Accounts {
    /// The person behind a sub of the application's, revoked grants and those a swap dropped included (accounts §2.9).
    ///
    /// - Throws: `unknownSub`.
    package func person(
        knownAs sub: String, at application: Application, _ connection: Connection
    ) throws -> Subject {
        guard let subject = try connection.subject(sub, at: application.id) else { throw Failure.unknownSub }
        return subject
    }
}
