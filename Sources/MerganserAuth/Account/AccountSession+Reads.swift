public import Foundation
import MerganserClient

extension AccountSession {
    /// The user's profile.
    public func profile() async throws -> Profile {
        try await profile(Call("GET", "/api/v1/me"))
    }

    /// The session's account becomes what the answer says.
    private func profile(_ call: Call) async throws -> Profile {
        let user = try await presentUser(isRead: call.isRead)
        let profile = try await ask(call, of: user).decoded(ProfileReply.self).user
        try? store(profile, of: user)
        return profile
    }

    /// Changes the profile.
    ///
    /// - Throws: besides, `server` with `invalid_contact_email`.
    @discardableResult
    public func update(_ change: ProfileChange) async throws -> Profile {
        let call = try Call("PATCH", "/api/v1/me", isRepeatable: true).json(change)
        return try await profile(call)
    }

    /// The providers that the user signs in with.
    public func identities() async throws -> [ConnectedIdentity] {
        try await ask(Call("GET", "/api/v1/me/connected_identities")).decoded(IdentitiesReply.self).connectedIdentities
    }

    /// Removes a provider.
    ///
    /// - Throws: besides, `server` with `identity_not_connected` or `last_identity`.
    @discardableResult
    public func unlink(provider: String) async throws -> [ConnectedIdentity] {
        try await ask(Call("DELETE", "/api/v1/me/connected_identities/\(provider.percentEncoded)"))
            .decoded(IdentitiesReply.self).connectedIdentities
    }

    /// The applications that the user signs in to, newest first.
    public func connectedApps() async throws -> [ConnectedApp] {
        try await ask(Call("GET", "/api/v1/me/connected_apps")).decoded(ConnectedAppsReply.self).connectedApps
    }

    /// Ends the user's sign-ins at an application.
    ///
    /// - Throws: besides, `server` with `not_connected`.
    public func disconnect(clientID: String) async throws {
        let answer = try await ask(Call("DELETE", "/api/v1/me/connected_apps/\(clientID.percentEncoded)"))
        guard answer.status == 204 else { throw answer.error }
    }

    /// Sign-ins, newest first.
    ///
    /// - Parameters:
    ///   - cursor: `nextCursor` of the page before.
    ///   - limit: how many at most; the server gives no more than 200.
    public func loginHistory(before cursor: String? = nil, limit: Int = 50) async throws -> LoginHistory {
        let query = formEncoded([("limit", "\(limit)")] + (cursor.map { [("before", $0)] } ?? []))
        return try await ask(Call("GET", "/api/v1/me/login_history?\(query)")).decoded(LoginHistory.self)
    }

    /// Everything the server keeps about the user but secrets, as one JSON document. The server gives three a day.
    ///
    /// The document goes from the network to the disk, however large it is. It is there as a whole or not at all, and only its
    /// owner can read it. Until it is whole, it has the extension `part` besides.
    ///
    /// - Parameter file: where to; replaced if it exists.
    /// - Throws: besides, `fileUnavailable`; `server` with `rate_limited`.
    public func export(to file: URL) async throws {
        let part = file.appendingPathExtension("part")
        defer { try? FileManager.default.removeItem(at: part) }
        // Who cannot write there has not used up an export.
        do {
            try Data().write(to: part)
            try restrict(part)
        } catch { throw MerganserError.fileUnavailable(file) }
        // Not repeated by itself: one that was cut counts, too.
        let answer = try await download(Call("GET", "/api/v1/me/export", isRepeatable: false), to: part)
        guard answer.status == 200 else { throw answer.error }
        do {
            // It may be another file by now.
            try restrict(part)
            try replaceFile(file.path, with: part.path)
        } catch {
            throw MerganserError.fileUnavailable(file)
        }
    }

    /// Leaves a file to its owner.
    private func restrict(_ file: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
}

/// The user's profile (accounts §1.7).
public struct Profile: Decodable, Hashable, Sendable {
    /// The user_id at the server.
    public let id: Int
    /// Shown to people; nobody may have verified it.
    public let contactEmail: String?
    /// As the user or a provider gave it.
    public let name: String?
    /// As the user gave it.
    public let nickname: String?
    /// Whether it is a guest.
    public let anonymous: Bool
    /// Whether it was a guest once and no longer is.
    public let previouslyAnonymous: Bool
    /// `user`, `developer` or `admin`.
    public let role: String
    /// When the account was made.
    public let createdAt: Date
}

/// What to change in a profile. What is not named stays.
public struct ProfileChange: Encodable, Hashable, Sendable {
    /// What becomes of one text.
    public enum Change: Encodable, Hashable, Sendable {
        /// It becomes this.
        case set(String)
        /// It goes.
        case clear

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .set(let text): try container.encode(text)
            case .clear: try container.encodeNil()
            }
        }
    }

    /// At most 200 characters.
    public var name: Change?
    /// At most 200 characters.
    public var nickname: Change?
    /// An address; nobody verifies it.
    public var contactEmail: Change?

    /// What is nil stays.
    public init(name: Change? = nil, nickname: Change? = nil, contactEmail: Change? = nil) {
        self.name = name
        self.nickname = nickname
        self.contactEmail = contactEmail
    }
}

/// A provider that the user signs in with.
public struct ConnectedIdentity: Decodable, Hashable, Sendable {
    /// `apple` or `google`.
    public let provider: String
    /// What the provider said last; nil if it did not.
    public let email: String?
    /// When it was linked.
    public let linkedAt: Date
}

/// An application that the user signs in to.
public struct ConnectedApp: Decodable, Hashable, Sendable {
    /// Its client_id.
    public let clientID: String
    /// As its developer called it.
    public let name: String
    /// What the user allowed.
    public let scopes: [String]
    /// When the user allowed it first.
    public let grantedAt: Date
    /// When it had tokens last.
    public let lastUsedAt: Date?

    enum CodingKeys: String, CodingKey {
        case clientID = "clientId"
        case name, scopes, grantedAt, lastUsedAt
    }
}

/// A page of sign-ins (accounts §4.3).
public struct LoginHistory: Decodable, Hashable, Sendable {
    /// One sign-in, or one that was refused.
    public struct Event: Decodable, Hashable, Sendable {
        /// Rises with time.
        public let id: Int
        /// `bootstrap`, `session`, `linked` and so on.
        public let event: String
        /// `apple` or `google`, if one was asked.
        public let provider: String?
        /// Where it came from.
        public let ip: String?
        /// What the client said that it is.
        public let userAgent: String?
        /// The device's platform.
        public let platform: String?
        /// When it was.
        public let createdAt: Date
    }

    /// Newest first.
    public let loginEvents: [Event]
    /// nil on the last page.
    public let nextCursor: String?
}

/// An account's deletion.
public struct AccountDeletion: Decodable, Hashable, Sendable {
    /// When it was deleted.
    public let deletedAt: Date
    /// From then on it cannot be restored.
    public let purgeAt: Date
}

struct ProfileReply: Decodable {
    let user: Profile
}

private struct IdentitiesReply: Decodable {
    let connectedIdentities: [ConnectedIdentity]
}

private struct ConnectedAppsReply: Decodable {
    let connectedApps: [ConnectedApp]
}
