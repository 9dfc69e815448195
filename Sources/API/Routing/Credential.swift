import Accounts
import Analytics
import Database
import HTTP
import Logging
import MariaDB
import Text

/// The credential that a route requires, and the principal that its handler gets for it.
struct Credential<Principal>: Sendable {
    let requirement: Requirement
    let check: @Sendable (Call) throws -> Principal

    init(_ requirement: Requirement, check: @escaping @Sendable (Call) throws -> Principal) {
        self.requirement = requirement
        self.check = check
    }
}

/// What a credential lets in. The check is what counts; a test compares the two for every route.
enum Requirement: Sendable {
    case anyone
    /// A PAK with all of these scopes, if any.
    case pak([Scope], appBound: Bool)
    case anonymousPAK(Scope)
    case identifiedPAK(Scope)
    case developerPAK(Scope)
    case administratorPAK(Scope)
    /// A browser whose web session is an administrator's.
    case administratorSession
    case accessToken
    case agent
    case client
    case confidentialClient(basicOnly: Bool)
    case apiKey(Permission)
    case webSession
}

/// The principal of a route that needs no credential.
struct Anyone: Sendable {}

/// A caller whose account is anonymous.
struct AnonymousCaller: Sendable {
    let caller: Caller
}

/// A caller whose account is identified.
struct IdentifiedCaller: Sendable {
    let caller: Caller
}

/// A caller who may register applications.
struct Developer: Sendable {
    let caller: Caller
}

extension Credential<Anyone> {
    static let anyone = Credential(.anyone) { _ in Anyone() }
}

extension Credential<Caller> {
    /// A PAK with all of these scopes. A PAK that is bound to an application is accepted only if the route says so (accounts §1.1).
    static func pak(_ scopes: Scope..., appBound: Bool = false) -> Credential {
        Credential(.pak(scopes, appBound: appBound)) { call in
            let caller = try call.authenticate()
            try caller.require(scopes, appBound: appBound)
            return caller
        }
    }
}

extension Caller {
    fileprivate func require(_ scopes: [Scope], appBound: Bool) throws {
        if application != nil && !appBound { throw Failure.insufficientScope }
        if !scopes.allSatisfy({ self.scopes.contains($0.rawValue) }) { throw Failure.insufficientScope }
    }
}

extension Credential<PresentedPAK> {
    /// The same as `pak`, for a rule that reads the caller itself.
    static func presentedPAK(_ scope: Scope) -> Credential {
        Credential(.pak([scope], appBound: false)) { call in
            PresentedPAK(read: try Credential<Caller>.pak(scope).check(call))
        }
    }
}

extension Credential<AnonymousCaller> {
    /// The PAK of an anonymous account.
    static func anonymousPAK(_ scope: Scope) -> Credential {
        Credential(.anonymousPAK(scope)) { call in
            let caller = try Credential<Caller>.pak(scope).check(call)
            if !caller.user.anonymous { throw Failure.nonAnonymousCaller }
            return AnonymousCaller(caller: caller)
        }
    }
}

extension Credential<IdentifiedCaller> {
    /// The PAK of an account that can survive a merge (accounts §3.1).
    static func identifiedPAK(_ scope: Scope) -> Credential {
        Credential(.identifiedPAK(scope)) { call in
            let caller = try Credential<Caller>.pak(scope).check(call)
            if caller.user.anonymous { throw Failure.anonymousRequester }
            return IdentifiedCaller(caller: caller)
        }
    }
}

extension Credential<Developer> {
    /// The full PAK of a user who may register applications (accounts §2.1).
    static let developer = Credential(.developerPAK(.profileWrite)) { call in
        let caller = try Credential<Caller>.pak(.profileWrite).check(call)
        guard caller.user.role.registersApplications else { throw Failure.developerRequired }
        return Developer(caller: caller)
    }
}

extension Credential<Administrator> {
    /// The full PAK of an administrator (accounts §4.7).
    static let administrator = Credential(.administratorPAK(.profileWrite)) { call in
        try Administrator(try Credential<Caller>.pak(.profileWrite).check(call).user)
    }
}

extension Credential<AccessToken> {
    /// An access token of a relying party, in the Authorization header (RFC 6750 §2.1).
    static let accessToken = Credential(.accessToken) { call in
        guard let token = call.bearerToken() else { throw Failure.invalidToken }
        return try call.find { try call.accounts.checkAccessToken(token, $0) }
    }
}

extension Credential<APIKey> {
    /// A live API key with a permission (analytics §2.5).
    static func apiKey(_ permission: Permission) -> Credential {
        Credential(.apiKey(permission)) { call in
            let key = try call.authenticateKey()
            try key.require(permission)
            return key
        }
    }
}

extension Credential<KeyProof> {
    /// The same, for a rule that confirms remembered keys.
    static func confirmedKey(_ permission: Permission) -> Credential {
        Credential(.apiKey(permission)) { call in
            KeyProof(read: try Credential<APIKey>.apiKey(permission).check(call))
        }
    }
}

extension Call {
    /// The PAK of the request, for a rule that reads the caller; nil if the caller has to be read before.
    ///
    /// A request with an Idempotency-Key claims its record before the rule begins, which nobody may who is not signed in.
    func presentedPAK(_ requirement: Requirement) -> PresentedPAK? {
        guard case .pak(let scopes, let appBound) = requirement, idempotencyKey == nil, let token = bearerToken() else {
            return nil
        }
        return accounts.present(token) { caller in try caller.require(scopes, appBound: appBound) }
    }

    /// The key of the request if it was live within the last minute, and had the permission; nil if it has to be read.
    func rememberedKey(_ requirement: Requirement) -> KeyProof? {
        guard case .apiKey(let permission) = requirement, let secret = keySecret,
            let proof = analytics.rememberedKey(secret), proof.key.permissions.contains(permission)
        else { return nil }
        return proof
    }

    /// Nil if the request does not have one Authorization header of the right form.
    private var keySecret: String? {
        request.headers.count(of: "authorization") == 1 ? bearerToken(.firstTwoParts) : nil
    }

    /// - Throws: 401 without a live API key.
    func authenticateKey() throws -> APIKey {
        if request.headers.count(of: "authorization") == 0 { throw Refusal.unauthorized("Missing authorization") }
        guard let secret = keySecret else { throw Refusal.unauthorized("Invalid authorization format") }
        let key = try find { try analytics.authenticate(secret, $0) }
        do {
            try database.autocommit { try analytics.noteUse(of: key, $0) }
        } catch {
            logger.debug("the key's last use could not be recorded", metadata: ["error": "\(error)"])
        }
        return key
    }

    /// - Throws: `invalidToken` without a live PAK.
    func authenticate() throws -> Caller {
        guard let token = bearerToken() else { throw Failure.invalidToken }
        let caller = try find { try service.accounts.authenticate(token, $0) }
        do {
            try database.autocommit { try service.accounts.noteActivity(of: caller, $0) }
        } catch {
            logger.debug("the user's last activity could not be recorded", metadata: ["error": "\(error)"])
        }
        return caller
    }

    /// A read whose error refuses what the request names, unless the database is unavailable.
    func find<T>(_ body: (Connection) throws -> T) throws -> T {
        try database.find(
            isMissing: { if case .failure(let error) = $0 { !Responder.isUnavailability(error) } else { false } }, body)
    }

    /// The bearer token (RFC 6750 §2.1); nil if there is none, which each surface refuses in its own form.
    func bearerToken(_ syntax: AuthorizationSyntax = .twoWords) -> String? {
        credentials("Bearer", syntax).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The credentials after a scheme in the Authorization header (RFC 9110 §11.4); nil if the header is absent or has
    /// another scheme.
    func credentials(_ scheme: String, _ syntax: AuthorizationSyntax = .twoWords) -> ArraySlice<UInt8>? {
        guard let header = request.headers.first("authorization") else { return nil }
        // Looked through by index: a token is long, and splitting it costs more than all other reading of headers.
        let bytes = Array(header.utf8)
        let space = UInt8(ascii: " ")
        func word(from position: Int) -> ArraySlice<UInt8> {
            var start = min(position, bytes.count)
            if syntax == .twoWords { while start < bytes.count, bytes[start] == space { start += 1 } }
            return bytes[start..<bytes.span.firstIndex(of: space, from: start)]
        }
        let name = word(from: 0)
        let credentials = word(from: name.endIndex + 1)
        if credentials.isEmpty { return nil }
        switch syntax {
        case .twoWords:
            let isLast = word(from: credentials.endIndex).isEmpty
            return isLast && name.span.isCaseless(scheme) ? credentials : nil
        case .firstTwoParts: return name.elementsEqual(scheme.utf8) ? credentials : nil
        }
    }
}

/// How a surface reads the Authorization header.
enum AuthorizationSyntax {
    /// The scheme, in upper or lower case, and exactly one word, with any number of spaces around them (RFC 9110
    /// §11.4).
    case twoWords
    /// The header is split at each single space, and the first two parts count. The scheme is compared exactly
    /// (analytics §2.5).
    case firstTwoParts
}
