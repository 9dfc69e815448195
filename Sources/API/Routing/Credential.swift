import Accounts
import Analytics
import HTTP

/// Who may call a route, and the principal its handler gets for it.
struct Credential<Principal>: Sendable {
    let check: @Sendable (Call) throws -> Principal
}

/// The caller of a route that is open to all.
struct Anyone: Sendable {}

/// A caller whose account is anonymous.
struct AnonymousCaller: Sendable {
    let caller: Caller
}

/// A caller who may register applications.
struct Developer: Sendable {
    let caller: Caller
}

extension Credential<Anyone> {
    static let anyone = Credential { _ in Anyone() }
}

extension Credential<Caller> {
    /// A PAK with a scope. One bound to an application opens only routes that say so (accounts §1.1).
    static func pak(_ scope: Scope?, appBound: Bool = false) -> Credential {
        Credential { call in
            let caller = try call.authenticate()
            if caller.application != nil && !appBound { throw Failure.insufficientScope }
            if let scope, !caller.scopes.contains(scope.rawValue) { throw Failure.insufficientScope }
            return caller
        }
    }
}

extension Credential<AnonymousCaller> {
    /// The PAK of an anonymous account.
    static func anonymousPAK(_ scope: Scope) -> Credential {
        Credential { call in
            let caller = try Credential<Caller>.pak(scope).check(call)
            if !caller.user.anonymous { throw Failure.nonAnonymousCaller }
            return AnonymousCaller(caller: caller)
        }
    }
}

extension Credential<Developer> {
    /// The full PAK of a user who may register applications (accounts §2.1).
    static let developer = Credential { call in
        let caller = try Credential<Caller>.pak(.profileWrite).check(call)
        guard caller.user.role.registersApplications else { throw Failure.developerRequired }
        return Developer(caller: caller)
    }
}

extension Credential<APIKey> {
    /// A live API key with a permission (analytics §2.5).
    static func apiKey(_ permission: Permission) -> Credential {
        Credential { call in
            let key = try call.authenticateKey()
            try key.require(permission)
            return key
        }
    }
}

extension Call {
    /// - Throws: 401 without a live API key.
    func authenticateKey() throws -> APIKey {
        if request.headers.count(of: "authorization") > 1 {
            throw Refusal.unauthorized("Invalid authorization format")
        }
        let authorization = request.headers.first("authorization")
        let key = try database.read { try analytics.authenticate(authorization, $0) }
        do {
            try database.read { try analytics.noteUse(of: key, $0) }
        } catch {
            logger.debug("use of the key not noted", metadata: ["error": "\(error)"])
        }
        return key
    }

    /// - Throws: `invalidToken` without a live PAK.
    func authenticate() throws -> Caller {
        guard let token = bearerToken else { throw Failure.invalidToken }
        let caller = try database.read { try service.accounts.authenticate(token, $0) }
        do {
            try database.read { try service.accounts.noteActivity(of: caller, $0) }
        } catch {
            logger.debug("activity not noted", metadata: ["error": "\(error)"])
        }
        return caller
    }

    /// RFC 6750 §2.1.
    var bearerToken: String? { credentials("bearer").map { String(decoding: $0, as: UTF8.self) } }

    /// What follows a scheme, which may be written in either case, in the Authorization header (RFC 9110 §11.4). Nil for
    /// another scheme, or when not exactly one word follows.
    ///
    /// - Parameter scheme: in lower case.
    func credentials(_ scheme: String) -> ArraySlice<UInt8>? {
        guard let header = request.headers.first("authorization") else { return nil }
        let space = UInt8(ascii: " ")
        let bytes = Array(header.utf8)
        let words = bytes.split(separator: space)
        let isOfScheme = words.count == 2 && words[0].elementsEqual(scheme.utf8) { $0 | 0x20 == $1 }
        return isOfScheme ? words[1] : nil
    }
}
