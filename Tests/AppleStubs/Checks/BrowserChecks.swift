import AuthenticationServices
import Foundation
import MerganserAuth

#if canImport(UIKit)
import UIKit
#endif

/// SystemBrowser with the stub's browser, which calls back from another thread, as often as a check says.
@MainActor enum BrowserChecks {
    static func run() async throws {
        try await itEndsOnce()
        try await whoLeavesNeedsNoCall()
        try await itComesBackAsTheRedirectURISays()
        #if canImport(UIKit)
        try await theServersAppComesFirst()
        #endif
        print("SystemBrowser ends once, whatever the system calls.")
    }

    private static let back = URL(string: "myapp://oauth/callback?code=1")
    private static let cancelled = ASWebAuthenticationSessionError(.canceledLogin)
    private static let failed = ASWebAuthenticationSessionError(.presentationContextInvalid)

    private static func itEndsOnce() async throws {
        try await expect("myapp://oauth/callback?code=1") { $0.calls = [(back, nil)] }
        try await expect("userCancelled") { $0.calls = [(nil, cancelled)] }
        try await expect("browserUnavailable") { $0.calls = [(nil, failed)] }
        try await expect("browserUnavailable") { $0.starts = false }
        // The system says it twice, or says so of a session that it did not start.
        try await expect("userCancelled") { $0.calls = [(nil, cancelled), (nil, cancelled)] }
        try await expect("userCancelled") { $0 = .init(calls: [(nil, cancelled)], starts: false) }
    }

    private static func whoLeavesNeedsNoCall() async throws {
        let before = ASWebAuthenticationSession.last.cancelled
        for delay in [Duration.zero, .milliseconds(50)] {
            try await expect("CancellationError()", leavingAfter: delay) { _ in }
        }
        try check(ASWebAuthenticationSession.last.cancelled > before, "the browser is closed")
    }

    private static func itComesBackAsTheRedirectURISays() async throws {
        for (redirectURI, callback) in [
            ("myapp://oauth/callback", "myapp:"), ("com.example.app:/back", "com.example.app:"),
            ("https://app.example.com/back/here", "https://app.example.com/back/here"),
        ] {
            try await expect("browserUnavailable", redirectURI) { $0.starts = false }
            try check(
                ASWebAuthenticationSession.last.callback == callback, "\(ASWebAuthenticationSession.last)")
        }
        // Nobody comes back to a server on this machine.
        try await expect("browserUnavailable", "http://127.0.0.1/back") { $0.calls = [(back, nil)] }
    }

    #if canImport(UIKit)
    private static func theServersAppComesFirst() async throws {
        UIApplication.opensUniversalLinks = true
        try await expect("nil") { _ in }
        // An extension opens nothing.
        UIApplication.application = nil
        try await expect("browserUnavailable") { $0.calls = [(back, nil)] }
        UIApplication.opensUniversalLinks = false
        UIApplication.application = UIApplication()
    }
    #endif

    /// Checks how one sign-in ends.
    private static func expect(
        _ outcome: String, _ redirectURI: String = "myapp://oauth/callback", leavingAfter delay: Duration? = nil,
        _ change: (inout ASWebAuthenticationSession.Script) -> Void
    ) async throws {
        var script = ASWebAuthenticationSession.Script()
        change(&script)
        ASWebAuthenticationSession.script = script
        guard let redirectURI = URL(string: redirectURI) else { throw Failed(redirectURI) }
        let (outcomes, end) = AsyncStream<String>.makeStream()
        let opening = Task {
            do {
                let url = try await SystemBrowser().open(URL(filePath: "/authorize"), returningTo: redirectURI)
                end.yield(url?.absoluteString ?? "nil")
            } catch { end.yield("\(error)") }
        }
        if let delay {
            if delay > .zero { try await Task.sleep(for: delay) }
            opening.cancel()
        }
        Task {
            try await Task.sleep(for: .seconds(5))
            end.yield("nothing in 5 s")
        }
        for await found in outcomes {
            try check(found == outcome, "\(outcome), not \(found)")
            return
        }
    }
}
