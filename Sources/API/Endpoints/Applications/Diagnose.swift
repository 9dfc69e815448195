import Accounts
import Database
import HTTP
import Logging
import Migrations
import Pages

private struct DiagnosisReply: Encodable {
    struct Check: Encodable {
        let id: String
        let status: String
        let message: String
    }

    struct Server: Encodable {
        let database: String
        let signingKey: String
        let migrations: String
    }

    let application: String
    let checks: [Check]
    let server: Server

    init(_ diagnosis: Diagnosis, _ health: Health) {
        application = diagnosis.standing.rawValue
        checks = diagnosis.checks.map {
            Check(id: $0.id.rawValue, status: $0.status.rawValue, message: $0.message)
        }
        server = Server(
            database: health.database.rawValue, signingKey: health.signingKey.rawValue,
            migrations: health.migrations.rawValue)
    }
}

/// The public health of this server: only whether each part works.
private struct Health {
    var database = Diagnosis.Status.fault
    var signingKey = Diagnosis.Status.unknown
    var migrations = Diagnosis.Status.unknown
}

/// `GET /diagnose` (accounts §2.12): what is wrong with an integration, as JSON or as a page. It answers even if the
/// database does not.
@Sendable func diagnose(_ call: Call, _: Anyone) -> Response {
    let parameters = call.queryParameters
    let question = Diagnosis.Question(parameters)
    let (diagnosis, health) = call.diagnosis(of: question)
    if parameters.comparable("format") == "json" || call.prefersJSON {
        return .json(.ok, DiagnosisReply(diagnosis, health))
    }
    return .page(
        DiagnosePage(
            question: DiagnosePage.Question(parameters),
            standing: question.isEmpty ? nil : DiagnosePage.Standing(rawValue: diagnosis.standing.rawValue),
            checks: diagnosis.checks.map { check in
                DiagnosePage.Check(
                    id: check.id.rawValue, status: DiagnosePage.Status(check.status), message: check.message)
            }, server: health.checks), in: call.language)
}

extension Call {
    fileprivate func diagnosis(of question: Diagnosis.Question) -> (Diagnosis, Health) {
        var health = Health()
        var diagnosis: Diagnosis?
        do {
            try database.read { connection in
                diagnosis = try accounts.diagnose(question, connection)
                health.database = .ok
                health.migrations = try SchemaCheck.problem(connection) == nil ? .ok : .fault
                health.signingKey = (try? accounts.signingKeys.signer(connection)) == nil ? .fault : .ok
            }
        } catch {
            logger.warning("diagnosis is incomplete", metadata: ["error": "\(error)"])
        }
        return (diagnosis ?? accounts.diagnoseOffline(question), health)
    }
}

extension Diagnosis.Question {
    /// Reads the parameters, or those of a whole authorize request in `url`.
    fileprivate init(_ parameters: QueryParameters) {
        if let url = parameters.comparable("url"), !url.isEmpty {
            let query = url.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
            let request = QueryParameters(String(query))
            let challenge = request.nonEmpty("code_challenge")
            self.init(
                clientID: request.nonEmpty("client_id"), redirectURI: request.nonEmpty("redirect_uri"),
                scope: request.nonEmpty("scope"),
                codeChallengeMethod: challenge == nil ? nil : request.nonEmpty("code_challenge_method"), isWhole: true)
        } else {
            self.init(
                clientID: parameters.nonEmpty("client_id"), redirectURI: parameters.nonEmpty("redirect_uri"),
                scope: parameters.nonEmpty("scope"), codeChallengeMethod: parameters.nonEmpty("code_challenge_method"),
                isWhole: false)
        }
    }

    fileprivate var isEmpty: Bool { clientID == nil && redirectURI == nil && !isWhole }
}

extension QueryParameters {
    fileprivate func nonEmpty(_ name: String) -> String? { comparable(name).flatMap { $0.isEmpty ? nil : $0 } }
}

extension DiagnosePage.Question {
    fileprivate init(_ parameters: QueryParameters) {
        self.init(
            url: parameters.comparable("url") ?? "", clientID: parameters.comparable("client_id") ?? "",
            redirectURI: parameters.comparable("redirect_uri") ?? "", scope: parameters.comparable("scope") ?? "",
            codeChallengeMethod: parameters.comparable("code_challenge_method") ?? "")
    }
}

extension DiagnosePage.Status {
    fileprivate init(_ status: Diagnosis.Status) {
        self =
            switch status {
            case .ok: .ok
            case .fault: .fault
            case .unknown: .unknown
            }
    }
}

extension Health {
    fileprivate var checks: [DiagnosePage.Check] {
        [
            DiagnosePage.Check(
                id: "database", status: .init(database),
                message: database == .ok ? "The database answers." : "The database does not answer."),
            DiagnosePage.Check(
                id: "signing_key", status: .init(signingKey),
                message: signingKey == .ok ? "Tokens can be signed." : "There is no key that can sign tokens."),
            DiagnosePage.Check(
                id: "migrations", status: .init(migrations),
                message: migrations == .ok
                    ? "The tables match this version."
                    : "The tables do not match this version, or could not be checked."),
        ]
    }
}
