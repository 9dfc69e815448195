package import JSON
internal import Text

/// What an end user wrote to a project (analytics §10).
package struct Feedback: Sendable {
    package typealias ID = EntityID<Feedback>

    package static let longestMessage = 4000

    let message: String
    let submitterName: String?
    let submitterEmail: String?
    let sessionID: UUID?
    let userID: EndUserID?
    let client: ClientMetadata

    /// - Throws: the first check of the body that fails, starting with `message`.
    package init(_ body: JSONObject, for platform: AppPlatform) throws(Refusal) {
        message = body["message"]?.string?.trimmed ?? ""
        if message.isEmpty { throw .invalid("message is required") }
        if message.isLonger(than: Self.longestMessage) {
            throw .invalid("message must be at most \(Self.longestMessage) characters")
        }
        try message.checkForNUL(field: "message")
        submitterName = body.text("submitter_name", cutTo: 255)
        try submitterName?.checkForNUL(field: "submitter_name")
        submitterEmail = body.text("submitter_email", cutTo: 320)
        if let submitterEmail, !Self.isEmailAddress(submitterEmail) {
            throw .invalid("submitter_email is not a valid email address")
        }
        try submitterEmail?.checkForNUL(field: "submitter_email")
        sessionID = try body.sessionID()
        userID = try body.userID()
        client = ClientMetadata(body)
        try client.check(for: platform)
    }

    /// Whether it has the shape `a@b.c`, without spaces.
    static func isEmailAddress(_ text: String) -> Bool {
        let parts = text.unicodeScalars.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && parts[1].dropFirst().dropLast().contains(".")
            && !text.unicodeScalars.contains(where: \.isWhiteSpace)
    }
}
