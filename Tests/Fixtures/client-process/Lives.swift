import Foundation
import MerganserAuth
import MerganserClient

extension App {
    /// Lives one phone after the other, from its first start to the sign-out, until a file `enough` is there. After each
    /// operation it prints a dot and writes down how far it is, so that it may be killed anywhere and go on at its next start.
    ///
    /// - Parameter most: the number of the last life, for which the folder has credentials.
    func lives(_ most: Int) async throws {
        let transport = URLSessionTransport(timeout: .seconds(10))
        let backoff = Backoff(base: .milliseconds(5), longest: .seconds(1), attempts: 4)
        func account(_ name: String) throws -> AccountSession {
            try AccountSession(
                issuer: config.issuer, platform: .ios, deviceName: name, store: store(name), transport: transport,
                clock: SystemClock(), backoff: backoff)
        }
        let phone = try account("phone")
        let life = Life(
            folder: folder, phone: phone, elsewhere: try account("elsewhere"),
            app: try AuthSession(
                config, store: store("app"), browser: OwnApp(account: phone), transport: transport,
                clock: SystemClock(), backoff: backoff))
        var progress = try Progress(folder)
        while progress.life < most, progress.hasBegun || !FileManager.default.fileExists(atPath: "\(folder)/enough") {
            if !progress.hasBegun {
                // Whoever may have a user at the server lives to the end.
                progress.hasBegun = true
                try progress.write(folder)
            }
            let steps = Life.steps(of: progress.life)
            try await life.take(steps[progress.step], &progress)
            say(".")
            progress.step += 1
            if progress.step == steps.count { progress = Progress(life: progress.life + 1) }
            try progress.write(folder)
        }
    }
}

/// How far a process came.
struct Progress: Codable {
    var life = 0
    /// Whether the life's first step may have been taken.
    var hasBegun = false
    var step = 0
    /// What the relying party knew of the user at first.
    var claims: MerganserClaims?

    init(life: Int) { self.life = life }

    init(_ folder: String) throws {
        guard let content = FileManager.default.contents(atPath: "\(folder)/progress") else { return }
        self = try JSONDecoder().decode(Progress.self, from: content)
    }

    func write(_ folder: String) throws {
        try JSONEncoder().encode(self).write(to: URL(filePath: "\(folder)/progress"), options: .atomic)
    }
}

/// The server's own app and a relying party's on one phone, and another phone of the same person.
struct Life {
    enum Step {
        case bootstrap, signIn, signInElsewhere, signInToApp, refresh, link, swap, merge, compare, signOut
    }

    let folder: String
    let phone: AccountSession
    let elsewhere: AccountSession
    let app: AuthSession

    /// A guest who is promoted, one who swaps, or an account that absorbs another one.
    static func steps(of life: Int) -> [Step] {
        switch life % 3 {
        case 0: [.bootstrap, .signInToApp, .refresh, .link, .compare, .refresh, .signOut]
        case 1: [.signInElsewhere, .bootstrap, .signInToApp, .refresh, .swap, .compare, .refresh, .signOut]
        default: [.signInElsewhere, .signIn, .signInToApp, .refresh, .merge, .compare, .refresh, .signOut]
        }
    }

    /// Takes a step, also if an earlier process took it wholly or in part. It goes on until the server has answered.
    func take(_ step: Step, _ progress: inout Progress) async throws {
        while true {
            do {
                await phone.start()
                await app.start()
                return try await takeOnce(step, &progress)
            } catch MerganserError.offline {
            } catch MerganserError.server(let status, _, _) where status >= 500 || status == 429 {
            } catch MerganserError.signedOut(.requested) where step == .swap {
                // An earlier swap has ended just now, and the guest is gone.
            } catch MerganserError.authorizationRefused("invalid_grant", _) where step == .signInToApp {
                // The code was used, and the answer lost.
            }
        }
    }

    private func takeOnce(_ step: Step, _ progress: inout Progress) async throws {
        switch step {
        case .bootstrap:
            let account = try await phone.bootstrap()
            try expect(account.anonymous, "the user of a new device is a guest, not \(account)")
        case .signIn: try await phone.signIn(with: credential(progress.life, of: "person"))
        case .signInElsewhere:
            let person = progress.life % 3 == 1 ? "person" : "other"
            try await elsewhere.signIn(with: credential(progress.life, of: person))
        case .signInToApp:
            if try await app.lastSession() == nil { try await app.signIn() }
            progress.claims = try await app.lastSession()?.claims
        case .refresh: try await app.refresh()
        case .link:
            if case .known = await phone.state { return }
            guard case .linked = try await phone.link(credential(progress.life, of: "person")) else {
                throw Wrong("a new person belongs to nobody")
            }
        case .swap: try await swap(progress)
        case .merge: try await merge()
        case .compare: try await compare(progress)
        case .signOut: try await signOut()
        }
    }

    private func swap(_ progress: Progress) async throws {
        if case .known = await phone.state { return }
        switch try await phone.link(credential(progress.life, of: "person")) {
        case .ownedByAnotherAccount(let ticket):
            let preview = try await phone.preview(ticket)
            try expect(preview.rps.map(\.fate) == [.transferred], "the guest's app moves: \(preview)")
            try await phone.swap(ticket, as: preview)
        // An earlier swap has ended just now; `compare` says whether it was one.
        case .linked: return
        }
    }

    private func merge() async throws {
        if try await phone.identities().count == 2 { return }
        let token = try await elsewhere.mergeToken()
        do {
            try await phone.merge(.token(token))
        } catch MerganserError.server(422, "self_merge_forbidden", _) {
            // An earlier merge has ended just now.
            try expect(try await phone.identities().count == 2, "both accounts are one")
        }
    }

    /// Whether the relying party learns of the same user what the server's own app knows.
    private func compare(_ progress: Progress) async throws {
        let claims = try await app.refresh().claims
        guard case .known(let account) = await phone.state, let before = progress.claims else {
            throw Wrong("the user is known: \(await phone.state)")
        }
        try expect(claims.sub == before.sub, "sub stays: \(claims) after \(before)")
        try expect(claims.canonicalSub == "\(account.id)", "\(claims) is \(account)")
        try expect(!claims.anonymous, "\(claims) is known")
        let elsewhere = await elsewhere.state
        if case .known(let other) = elsewhere, progress.life % 3 == 1 {
            try expect(other == account, "\(account) is \(other)")
        }
    }

    private func signOut() async throws {
        try await ignoringSilence { try await app.signOut(.everywhere) }
        for account in [phone, elsewhere] {
            if case .signedOut(let reason) = await account.state {
                try expect(reason == .requested || reason == .neverSignedIn, "nobody signed \(account) out: \(reason)")
                continue
            }
            try await ignoringSilence { try await account.signOut() }
        }
    }

    /// Nobody is signed in afterwards, whether the server has heard of it or not.
    private func ignoringSilence(_ work: () async throws -> Void) async throws {
        do { try await work() } catch MerganserError.offline {} catch MerganserError.server {}
    }

    /// The folder has a token for each person of each life.
    private func credential(_ life: Int, of person: String) throws -> ProviderCredential {
        let token = try String(contentsOfFile: "\(folder)/tokens/\(person)-\(life)", encoding: .utf8)
        return .apple(identityToken: token, nonce: "raw-nonce")
    }
}

/// The server's own app as the browser.
private struct OwnApp: Browser {
    let account: AccountSession

    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? { try await account.authorize(url) }
}

struct Wrong: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = "not so: \(description)" }
}

private func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(Wrong) {
    if !condition { throw Wrong(sentence()) }
}
