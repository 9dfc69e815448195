public import Foundation

/// Shows the server's pages to the user, or opens the server's own app.
public protocol Browser: Sendable {
    /// Opens `url` and waits until it ends at the redirect URI.
    ///
    /// - Returns: the URL it ended at; nil if that URL comes to the app from elsewhere, which passes it to `handle`.
    /// - Throws: `MerganserError.userCancelled` if the user closed it. Returns soon when the task is cancelled.
    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL?
}

/// For systems where the app named no browser.
struct NoBrowser: Browser {
    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? {
        throw MerganserError.browserUnavailable
    }
}
