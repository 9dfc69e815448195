import MariaDB
import Text

/// Questions that a project asks its end users (analytics §12).
package struct Questionnaire: Sendable {
    package typealias ID = EntityID<Questionnaire>

    /// The name by which clients ask for it: 1 to 64 of `a-z 0-9 -`.
    package struct Slug: RawRepresentable, Hashable, Sendable, Bindable, Readable {
        package static let longest = 64

        package let rawValue: String

        package init?(rawValue: String) {
            let isFine = rawValue.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
            guard isFine, (1...Self.longest).contains(rawValue.utf8.count) else { return nil }
            self.rawValue = rawValue
        }
    }

    package let id: ID
    package let slug: Slug
    package let name: String
    package let description: String?
    package let schema: QuestionnaireSchema
    let isActive: Bool

    static let notFound = Refusal.notFound("Questionnaire not found")
}

extension APIKey {
    /// The app that shows a questionnaire.
    ///
    /// - Parameter bundleID: nil if the request has none, or if it is not a string.
    package func questionnaireApp(bundleID: String?) throws(Refusal) -> App {
        guard kind == .client else { throw .forbidden("Client key required") }
        let app = try ingestApp()
        if let expected = app.bundleID, bundleID?.hasSameBytes(as: expected) != true {
            throw .forbidden("bundle_id does not match the app")
        }
        return app
    }
}
