package import JSON
import OpenSSL
import Text

/// What an agent asks its user to approve, as it came.
package struct ApprovalRequest: Sendable {
    package var actionType: String?
    package var title: String?
    package var body: String?
    package var context: JSONObject
    package var timeToLive: Duration

    /// - Parameter timeToLive: nil for the usual one.
    package init(actionType: String?, title: String?, body: String?, context: JSONObject, timeToLive: Duration?) {
        self.actionType = actionType
        self.title = title
        self.body = body
        self.context = context
        self.timeToLive = timeToLive ?? .seconds(300)
    }

    /// The same, complete.
    struct Checked {
        let actionType: String
        let title: String
        let body: String
        let context: KeptJSON
        let timeToLive: Duration
    }

    private static let longestActionType = 100
    private static let longestTitle = 200
    private static let longestBody = 10_000
    private static let timesToLive = Duration.seconds(30)...Duration.seconds(1800)

    /// A name that can be shown, of at most 100 characters.
    static func isActionType(_ text: String) -> Bool { isShown(text, atMost: longestActionType) }

    /// - Throws: `invalidApproval` with every member at fault.
    func checked() throws(Failure) -> Checked {
        var fields: [String] = []
        func take(_ value: String?, _ name: String, if isValid: (String) -> Bool) -> String {
            guard let value, isValid(value) else {
                fields.append(name)
                return ""
            }
            return value
        }
        let actionType = take(self.actionType, "action_type", if: Self.isActionType)
        let title = take(self.title, "title") { Self.isShown($0, atMost: Self.longestTitle) }
        let body = take(self.body, "body") { text in
            !String?(text).isBlank && text.unicodeScalars.count <= Self.longestBody
                && DisplayName.isAcceptable(lines: text)
        }
        if !JSONValue.object(context).isShown { fields.append("context") }
        if !Self.timesToLive.contains(timeToLive) { fields.append("ttl_seconds") }
        if !fields.isEmpty { throw .invalidApproval(fields: fields) }
        return Checked(
            actionType: actionType, title: title, body: body, context: KeptJSON(.object(context)),
            timeToLive: timeToLive)
    }

    private static func isShown(_ text: String, atMost count: Int) -> Bool {
        !String?(text).isBlank && text.unicodeScalars.count <= count && DisplayName.isAcceptable(text)
    }
}

extension JSONValue {
    /// Whether people see exactly what is hashed: no text changes the direction of the text around it, and every number is one
    /// that RFC 8785 writes as it is.
    fileprivate var isShown: Bool {
        switch self {
        case .null, .bool: true
        case .integer(let value): value.magnitude <= 1 << 53
        case .number(let value): value.isFinite
        case .string(let text): DisplayName.isAcceptable(lines: text)
        case .array(let values): values.allSatisfy(\.isShown)
        case .object(let object):
            object.members.allSatisfy { DisplayName.isAcceptable(lines: $0.name) && $0.value.isShown }
        }
    }
}

/// What people see before they decide. Agents and phones compute its hash, too.
struct DisplayPayload: Encodable {
    let actionType: String
    let agentName: String
    let agentType: String
    let body: String
    let context: KeptJSON
    let title: String

    /// SHA-256 of the canonical JSON (RFC 8785), in lower-case hexadecimal.
    var hash: String { sha256(canonicalJSON()).hexadecimal }
}
