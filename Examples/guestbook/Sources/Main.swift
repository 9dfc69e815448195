import Foundation
import MerganserAuth

/// A guest writes into a guestbook, turns out to have an account, and finds the entry there.
///
/// Two apps are on the phone: the server's own, with an `AccountSession`, and the guestbook, which uses the façade.
@main struct Main {
    static func main() async throws {
        let server = try DevelopmentServer()
        let phone = FileManager.default.temporaryDirectory.appending(path: "guestbook-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: phone) }
        let mina = "mina-\(UUID().uuidString)"
        var book = Guestbook()

        say("A phone starts for the first time. The server's own app gets a guest.")
        let account = try AccountSession(
            issuer: server.url, platform: .ios, deviceName: "Example", store: FileStore(folder: phone))
        let guest = try await account.bootstrap()
        try expect(guest.anonymous, "User \(guest.id) is a guest.")

        say("The guestbook signs the guest in through that app, without a question.")
        let config = MerganserConfig(
            clientID: server.clientID, redirectURI: "com.example.demo://callback", issuer: server.url)
        let store = FileStore(folder: phone)
        MerganserAuth.configure(config, store: store, browser: OwnApp(account: account))
        let claims = try await MerganserAuth.signIn().claims
        book.write("Hello from a guest", by: claims)
        try expect(claims.anonymous, "Their entry stands under the id \(claims.effectiveSub).")

        say("On another phone, Mina signed in with Apple long ago.")
        let elsewhere = try AccountSession(issuer: server.url, platform: .ios, store: InMemoryStore())
        let owner = try await elsewhere.signIn(with: server.appleCredential(of: mina))
        try expect(!owner.anonymous, "Her account is \(owner.id).")

        say("On this phone she signs in with Apple, too. She has an account, so she is asked what to do.")
        guard case .ownedByAnotherAccount(let ticket) = try await account.link(server.appleCredential(of: mina)) else {
            throw Failure(description: "Mina has an account.")
        }
        let preview = try await account.preview(ticket)
        try expect(
            preview.merged.rps.transferred == 1, "Of the guest, \(preview.rps.map(\.name)) would move to \(owner.id).")

        say("She swaps. It happens as she was shown, or not at all.")
        try await account.swap(ticket, as: preview)
        try expect(await account.state == .known(owner), "This phone is hers, and the guest is gone.")

        say("The guestbook refreshes. Its claims say what became of the guest.")
        let now = try await MerganserAuth.refresh().claims
        book.follow(now, since: claims)
        try expect(
            now.sub == claims.sub && now.effectiveSub == String(owner.id), "sub stays; the account is \(owner.id).")
        try expect(book.entries[now.effectiveSub] == ["Hello from a guest"], "Her entry stands there now.")

        say("The guestbook is started again. It knows her without asking the server.")
        let next = try AuthSession(config, store: store, browser: OwnApp(account: account), transport: Offline())
        try expect(
            try await next.accessToken().isEmpty == false, "Her access token is good for another minute at least.")

        say("She signs out everywhere.")
        try await MerganserAuth.signOut(.everywhere)
        try expect(await next.state == .signedOut(.requested), "Nobody is signed in to the guestbook.")
    }

    private static func say(_ sentence: String) { print(sentence) }
}

/// The server's own app on the same phone, which the system would open by its universal link: it knows the user, and gives
/// the guestbook a code.
private struct OwnApp: Browser {
    let account: AccountSession

    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? { try await account.authorize(url) }
}
