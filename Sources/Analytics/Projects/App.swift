/// What a client or import key belongs to, as the authenticating read saw it.
package struct App: Sendable {
    package typealias ID = EntityID<App>

    package var id: ID
    package var project: Project
    package var platform: AppPlatform
    package var bundleID: String?
    package var isDeleted: Bool

    /// Neither it nor its project is deleted.
    package var isLive: Bool { !isDeleted && !project.isDeleted }

    /// Checks that a request names the app it comes from (analytics §8.1, checks 5 and 6).
    ///
    /// - Parameter bundleID: nil when the request has none, or no string.
    package func check(bundleID: String?) throws(Refusal) {
        guard let expected = self.bundleID else { return }
        guard let bundleID else { throw .invalid("bundle_id is required") }
        guard bundleID.utf8.elementsEqual(expected.utf8) else {
            throw .forbidden("bundle_id does not match the app associated with this API key")
        }
    }
}
