import Foundation
import MerganserClient

/// Whose events a device reports, and what the server has yet to be told about it. One small file.
struct SavedState: Codable, Sendable, Equatable {
    struct Claim: Codable, Sendable, Hashable {
        var anonymousID: String
        var userID: String
    }

    /// How far a token of an ad network has come, for one anonymous id.
    struct AttributionProgress: Codable, Sendable, Equatable {
        /// The network's answer is with the server, or there will be none.
        var isDone = false
        /// How often the network did not know yet.
        var pending = 0
    }

    var anonymousID: String
    /// nil if nobody is signed in.
    var userID: String?
    /// Not yet acknowledged by the server (analytics §5), in order.
    var claims: [Claim] = []
    /// Changes of properties that the server has not acknowledged (analytics §6), by user. An empty value removes.
    var properties: [String: [String: String]] = [:]
    var attribution: [String: AttributionProgress] = [:]

    init(anonymousID: String, userID: String? = nil) { (self.anonymousID, self.userID) = (anonymousID, userID) }

    /// Reads what there is: another version of the library may have members that this one does not know, lack some that it
    /// knows, or have them in another form. Nothing but a missing anonymous id makes a state unreadable.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func member<Value: Decodable>(_ key: CodingKeys) -> Value? { try? members.decode(Value.self, forKey: key) }
        anonymousID = try members.decode(String.self, forKey: .anonymousID)
        userID = member(.userID)
        claims = member(.claims) ?? []
        properties = member(.properties) ?? [:]
        attribution = member(.attribution) ?? [:]
    }

    static let prefix = "owl_anon_"

    /// `owl_anon_` and a UUID.
    static func newAnonymousID() -> String { prefix + UUID().uuidString }

    /// What was saved, or a new anonymous id, which is saved at once.
    ///
    /// - Parameter report: is told of a file that nobody can read. A new one takes its place, since it would stay so.
    /// - Throws: `FileFault` if the file cannot be read or written now. A new id for a while would be another user's.
    static func load(from file: ReplacedFile, report: (EventLoss) -> Void) throws -> SavedState {
        let fresh = SavedState(anonymousID: KeptAnonymousID.read() ?? newAnonymousID())
        var state = fresh
        _ = try file.update { content in
            if let content, let present = try? decoder.decode(SavedState.self, from: content) {
                state = present
                return content
            }
            if let content { report(.damaged(bytes: content.count)) }
            return try encoder.encode(fresh)
        }
        if state == fresh { KeptAnonymousID.write(fresh.anonymousID) }
        return state
    }

    /// Changes what is saved; other processes see the change.
    ///
    /// - Returns: the new state.
    static func update(
        _ file: ReplacedFile, from present: SavedState, _ change: (inout SavedState) -> Void
    ) throws -> SavedState {
        var state = present
        _ = try file.update { content in
            if let content, let saved = try? decoder.decode(SavedState.self, from: content) { state = saved }
            change(&state)
            return try encoder.encode(state)
        }
        return state
    }

    mutating func apply(_ note: Intake.Note) {
        switch note {
        case .signedIn(let user, let anonymous):
            userID = user
            let claim = Claim(anonymousID: anonymous, userID: user)
            if !claims.contains(claim) { claims.append(claim) }
        case .signedOut(let anonymous):
            userID = nil
            if let anonymous { anonymousID = anonymous }
        case .properties(let user, let changes):
            properties[user, default: [:]].merge(changes) { $1 }
        }
    }

    private static let decoder = JSONDecoder()

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
