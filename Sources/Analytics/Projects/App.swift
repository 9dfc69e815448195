import Text

/// The app of a client or import key, as it was when the key was read.
package struct App: Sendable {
    package typealias ID = EntityID<App>

    package var id: ID
    package var project: Project
    package var platform: AppPlatform
    package var bundleID: String?
    package var isDeleted: Bool

    /// Whether neither the app nor its project is deleted.
    package var isLive: Bool { !isDeleted && !project.isDeleted }

    /// Checks that a request names the app that it comes from (analytics §8.1, checks 5 and 6).
    ///
    /// - Parameter bundleID: nil if the request has none, or if it is not a string.
    package func check(bundleID: String?) throws(Refusal) {
        guard let expected = self.bundleID else { return }
        guard let bundleID else { throw .invalid("bundle_id is required") }
        guard bundleID.hasSameBytes(as: expected) else {
            throw .forbidden("bundle_id does not match the app associated with this API key")
        }
    }
}
