import Foundation
import MerganserAuth
import SwiftUI

/// An app whose users sign in with a Merganser server. `AccountView` is a page of the server's own app.
@main struct GuestbookApp: App {
    init() {
        guard let redirectURI = URL(string: "com.example.guestbook://callback"),
            let issuer = URL(string: "https://id.example.com")
        else { return }
        MerganserAuth.configure(MerganserConfig(clientID: "logi_guestbook", redirectURI: redirectURI, issuer: issuer))
    }

    var body: some Scene {
        WindowGroup {
            // The server's own app comes back through a URL.
            GuestbookView().onOpenURL { url in _ = MerganserAuth.handle(url) }
        }
    }
}

struct GuestbookView: View {
    @State private var state: SessionState?
    @State private var book = Guestbook()
    @State private var text = ""
    @State private var problem: String?

    var body: some View {
        List {
            Section("Who") {
                switch state {
                case nil: Text("…")
                case .unknown: Text("Not known yet")
                case .signedOut: Button("Sign in") { attempt { try await MerganserAuth.signIn() } }
                case .guest(let claims): Text("Guest \(claims.effectiveSub)")
                case .known(let claims): Text(claims.email ?? claims.effectiveSub)
                }
                if let problem { Text(problem) }
            }
            if let claims = state?.claims {
                Section("Entries") {
                    ForEach(book.entries[claims.effectiveSub] ?? [], id: \.self) { Text($0) }
                    TextField("A new entry", text: $text)
                    Button("Write") {
                        book.write(text, by: claims)
                        text = ""
                    }
                }
                Section("Account") {
                    Button("Look for changes") { attempt { try await MerganserAuth.refresh() } }
                    Button("Sign out") { attempt { try await MerganserAuth.signOut() } }
                }
            }
        }
        .task { await follow() }
    }

    /// Shows each new state, and brings entries to where claims say that they belong.
    private func follow() async {
        var previous: MerganserClaims?
        for await new in MerganserAuth.states {
            if let claims = new.claims {
                if let previous { book.follow(claims, since: previous) }
                previous = claims
            }
            state = new
        }
    }

    private func attempt(_ action: @escaping @MainActor () async throws -> Any) {
        Task {
            do {
                _ = try await action()
                problem = nil
            } catch MerganserError.userCancelled {
                // Nothing to say.
            } catch {
                problem = error.localizedDescription
            }
        }
    }
}

extension SessionState {
    fileprivate var claims: MerganserClaims? {
        switch self {
        case .guest(let claims), .known(let claims): claims
        case .unknown, .signedOut: nil
        }
    }
}
