/// The consent of one user to one application, and the sub the application knows the user by (accounts §2.2).
package struct Grant: Sendable {
    package typealias ID = Identifier<Grant>

    package var id: ID
    /// Frozen for ever.
    package var sub: String
    package var scopes: Scopes
    package var isLive: Bool
}
