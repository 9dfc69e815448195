import AuthenticationServices
import Foundation
import MerganserAuth
import SwiftUI

/// In the server's own app: the guest of this phone, who signs in with Apple once and keeps everything.
struct AccountView: View {
    let session: AccountSession
    @State private var account: Account?
    /// Set while the user is asked whether the guest's things should move.
    @State private var question: (ticket: SwapTicket, preview: SwapPreview)?
    @State private var nonce = SignInNonce()
    @State private var problem: String?

    var body: some View {
        List {
            Section("Account") {
                Text(account.map { $0.anonymous ? "Guest" : $0.name ?? $0.contactEmail ?? "User \($0.id)" } ?? "…")
                if account?.anonymous == true, question == nil {
                    SignInWithAppleButton(.signIn) {
                        $0.nonce = nonce.digest
                    } onCompletion: {
                        signedIn($0)
                    }
                }
                if let problem { Text(problem) }
            }
            if let question {
                Section("You have an account already") {
                    ForEach(question.preview.rps.filter { $0.fate == .transferred }, id: \.clientID) {
                        Text("\($0.name) moves there")
                    }
                    Button("Move everything") {
                        attempt { account = try await session.swap(question.ticket, as: question.preview).account }
                    }
                    Button("Stay a guest") { self.question = nil }
                }
            }
        }
        // A guest at the first start; afterwards whoever is signed in, without a request.
        .task { attempt { account = try await session.bootstrap() } }
    }

    private func signedIn(_ result: Result<ASAuthorization, any Error>) {
        guard case .success(let authorization) = result,
            let apple = authorization.credential as? ASAuthorizationAppleIDCredential, let token = apple.identityToken
        else { return }
        let credential = ProviderCredential.apple(
            identityToken: String(decoding: token, as: UTF8.self), nonce: nonce.raw, fullName: apple.fullName,
            authorizationCode: apple.authorizationCode.map { String(decoding: $0, as: UTF8.self) })
        nonce = SignInNonce()
        attempt {
            switch try await session.link(credential) {
            case .linked(let known): account = known
            case .ownedByAnotherAccount(let ticket): question = (ticket, try await session.preview(ticket))
            }
        }
    }

    private func attempt(_ action: @escaping @MainActor () async throws -> Void) {
        Task {
            do {
                try await action()
                if account?.anonymous == false { question = nil }
                problem = nil
            } catch {
                problem = error.localizedDescription
            }
        }
    }
}
