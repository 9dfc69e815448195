import Fetch
package import MariaDB
import Time

/// What is wrong with an application's integration, as far as the server can see (accounts §2.12). The diagnosis
/// contains no redirect URI except the one that was asked about.
package struct Diagnosis: Sendable {
    /// The parameters of an authorize request that is to be checked.
    package struct Question: Sendable {
        package var clientID: String?
        package var redirectURI: String?
        package var scope: String?
        package var codeChallengeMethod: String?
        /// Whether these are all parameters of a request. If so, a parameter that is not there is reported as missing.
        package var isWhole: Bool

        package init(
            clientID: String?, redirectURI: String?, scope: String?, codeChallengeMethod: String?, isWhole: Bool
        ) {
            self.clientID = clientID
            self.redirectURI = redirectURI
            self.scope = scope
            self.codeChallengeMethod = codeChallengeMethod
            self.isWhole = isWhole
        }
    }

    package enum Standing: String, Sendable, CaseIterable {
        case active, unknown, inactive
    }

    package enum Status: String, Sendable, CaseIterable {
        case ok, fault, unknown
    }

    package struct Check: Sendable, Equatable {
        package enum ID: String, Sendable, CaseIterable {
            case schemeUnderscore = "scheme_underscore"
            case idpHostConflict = "idp_host_conflict"
            case redirectUnregistered = "redirect_unregistered"
            case redirectCharacters = "redirect_characters"
            case openidMissing = "openid_missing"
            case pkceMissing = "pkce_missing"
        }

        package let id: ID
        package let status: Status
        /// For developers, in English.
        package let message: String
    }

    package let standing: Standing
    package let checks: [Check]

    /// - Parameters:
    ///   - application: the one with this client_id.
    ///   - seen: the faults of its recent requests.
    init(
        _ question: Question, application: Application?, seen: Set<AuthorizationFault>, issuerHost: String
    ) {
        standing =
            switch application?.isActive {
            case nil: .unknown
            case true?: .active
            case false?: .inactive
            }
        let inspector = Inspector(question: question, application: application, seen: seen, issuerHost: issuerHost)
        checks = Check.ID.allCases.map { id in
            let (status, message) = inspector.result(of: id)
            return Check(id: id, status: status, message: message)
        }
    }
}

extension Accounts {
    package func diagnose(_ question: Diagnosis.Question, _ connection: Connection) throws -> Diagnosis {
        let application = try question.clientID.flatMap { try connection.client($0) }
        let seen = try application.map {
            try connection.faults(of: $0.id, since: clock.now - AuthorizationFault.memory)
        }
        return Diagnosis(question, application: application, seen: seen ?? [], issuerHost: settings.issuerHost)
    }

    /// The checks that need no database.
    package func diagnoseOffline(_ question: Diagnosis.Question) -> Diagnosis {
        Diagnosis(question, application: nil, seen: [], issuerHost: settings.issuerHost)
    }
}

/// Runs the checks.
private struct Inspector {
    typealias Result = (status: Diagnosis.Status, message: String)

    let question: Diagnosis.Question
    let application: Application?
    let seen: Set<AuthorizationFault>
    let issuerHost: String

    func result(of id: Diagnosis.Check.ID) -> Result {
        switch id {
        case .schemeUnderscore: schemeUnderscore
        case .idpHostConflict: idpHostConflict
        case .redirectUnregistered: redirectUnregistered
        case .redirectCharacters: redirectCharacters
        case .openidMissing: openidMissing
        case .pkceMissing: pkceMissing
        }
    }

    private static let noRedirectURI: Result = (.unknown, "Send a redirect_uri to check it.")

    private var schemeUnderscore: Result {
        guard let uri = question.redirectURI else { return Self.noRedirectURI }
        return uri.prefix { $0 != ":" }.contains("_")
            ? (.fault, "iOS rejects schemes with an underscore. Register one such as com.example.myapp.")
            : (.ok, "The scheme has no underscore.")
    }

    private var idpHostConflict: Result {
        guard let uri = question.redirectURI else { return Self.noRedirectURI }
        let isOurs = Authority.visited(by: uri).map { scheme, authority in
            scheme == "https" && Host(issuerHost).map(authority.host.isSame) == true
        }
        return isOurs == true
            ? (
                .fault,
                "The redirect URI is on this server's host, whose universal links open the server's own app. Your app "
                    + "never gets the code. Use a custom scheme or a host of your own."
            ) : (.ok, "The redirect URI is not on this server's host.")
    }

    private var redirectUnregistered: Result {
        guard let uri = question.redirectURI else { return Self.noRedirectURI }
        guard let application else { return (.unknown, "There is no application with this client_id.") }
        return application.redirectURIs.contains { $0.utf8.elementsEqual(uri.utf8) }
            ? (.ok, "The redirect URI is registered.")
            : (
                .fault,
                "The redirect URI is not registered. It is compared as a string: scheme, host, port, path, query and a "
                    + "slash at the end must be equal."
            )
    }

    private var redirectCharacters: Result {
        guard let uri = question.redirectURI else { return Self.noRedirectURI }
        do throws(InvalidRedirectURI) {
            _ = try RedirectURI(uri, issuerHost: issuerHost)
        } catch  where error.reason == .characters {
            return (
                .fault,
                "A redirect URI has at most 2000 visible ASCII characters except + & *, and a host after https://."
            )
        } catch {}
        return (.ok, "The characters of the redirect URI are allowed.")
    }

    private var openidMissing: Result {
        if let application, !application.allowedScopes.contains("openid") {
            return (.fault, "The application may not ask for openid. Add it to allowed_scopes.")
        }
        if question.scope == nil && !question.isWhole {
            return seen.contains(.openidMissing)
                ? (.fault, "A request of the past 24 hours did not ask for openid, so it got no id_token.")
                : (.unknown, "Send the scope to check it. No fault was seen in the past 24 hours.")
        }
        return Scopes(question.scope ?? "").contains("openid")
            ? (.ok, "The scope contains openid.")
            : (.fault, "The scope does not contain openid. Without it there is no id_token.")
    }

    private var pkceMissing: Result {
        if question.codeChallengeMethod == nil && !question.isWhole {
            return seen.contains(.pkceMissing)
                ? (.fault, "A request of the past 24 hours had no code_challenge with method S256.")
                : (
                    .unknown,
                    "Send the code_challenge_method to check it. No fault was seen in the past 24 hours."
                )
        }
        return question.codeChallengeMethod == "S256"
            ? (.ok, "PKCE is used with S256.")
            : (.fault, "Send code_challenge and code_challenge_method=S256. Every client must use PKCE (RFC 7636).")
    }
}
