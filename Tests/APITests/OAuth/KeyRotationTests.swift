import Accounts
import HTTP
import JOSE
import Synchronization
import TestSupport
import Testing
import Threads
import Time

/// Keys change while people sign in. A client that fetched the key set within the last hour knows every key that it
/// meets (accounts §2.10).
@Suite struct KeyRotationTests {
    /// What both processes published, and when.
    private struct History {
        var keySets: [(at: Timestamp, keySet: KeySet)] = []

        /// The oldest key sets that a client may still cache at that time.
        func anHourOld(at now: Timestamp) -> [KeySet] {
            guard let first = keySets.first(where: { $0.at >= now - .seconds(3600) }) else { return [] }
            return keySets.filter { $0.at == first.at }.map(\.keySet)
        }
    }

    private struct Progress {
        var rounds: [Int]
        var isOver = false
        var failures: [String] = []
        var keyIDs: Set<String> = []
    }

    @Test func noTokenEverFailsWithAKeySetOfAnHourAgo() throws {
        let app = try TestApp()
        let scene = try OAuthScene(app)
        // A second process, with a copy of the keys of its own.
        let other = try TestApp(database: app.database, time: app.time)
        let workers = 6
        let history = Mutex(History())
        let progress = Monitor(Progress(rounds: Array(repeating: 0, count: workers)))
        let rp = try scene.register()

        func publish() throws {
            for process in [app, other] {
                let answer = process.client().send(.get, "/.well-known/jwks.json")
                let keySet = try #require(KeySet(json: answer.response.body))
                history.withLock { $0.keySets.append((app.time.now, keySet)) }
            }
        }
        try publish()
        let first = try (0..<workers).map { try scene.signIn(rp, as: scene.person("person \($0)")).refresh }
        let threads = first.enumerated().map { number, token in
            let client = (number.isMultiple(of: 2) ? app : other).client()
            let sender = RefreshingClient(client: client, rp: rp, token: token)
            return Threads.Thread {
                while progress.withLock({ !$0.isOver }) {
                    let result = sender.refresh()
                    let keySets = history.withLock { $0.anHourOld(at: app.time.now) }
                    progress.change { progress in
                        progress.rounds[number] += 1
                        switch result {
                        case .failure(let error): progress.failures.append("\(error)")
                        case .success(let tokens):
                            for token in tokens {
                                progress.keyIDs.formUnion([token.keyID ?? ""])
                                for keySet in keySets {
                                    do { try token.verify(with: keySet) } catch {
                                        progress.failures.append("\(error) at \(app.time.now.iso8601)")
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }

        /// Advances the clock, and lets every thread get a token at that time.
        func pass(_ seconds: Int) throws {
            app.time.advance(by: .seconds(seconds))
            try publish()
            let before = progress.withLock(\.rounds)
            let isDone = progress.wait(atMost: .seconds(60)) { progress in
                zip(before, progress.rounds).allSatisfy { $0 + 2 <= $1 } ? true : nil
            }
            try #require(isDone == true, "\(progress.withLock(\.failures).first ?? "threads are stuck")")
        }
        for _ in 1...3 {
            try app.generateSigningKey()
            for _ in 1...7 { try pass(5) }
            for _ in 1...11 { try pass(323) }
            #expect(throws: RefusedOperation.self) { try app.activateSigningKey() }
            while (try? app.activateSigningKey()) == nil { try pass(4) }
            for _ in 1...12 { try pass(5) }
            for _ in 1...12 { try pass(300) }
        }
        progress.change { $0.isOver = true }
        for thread in threads { thread.join() }
        let end = progress.withLock { $0 }
        #expect(end.failures.isEmpty, "\(end.failures.count): \(end.failures.prefix(3))")
        #expect(end.keyIDs.count == 4)
    }
}

/// A client that stays signed in at one relying party, on one thread.
private final class RefreshingClient: @unchecked Sendable {
    private let client: Client
    private let rp: TestClient
    private var token: String

    init(client: Client, rp: TestClient, token: String) {
        self.client = client
        self.rp = rp
        self.token = token
    }

    /// The access token and the id_token of the next rotation.
    func refresh() -> Result<[JWT], any Error> {
        Result {
            let answer = client.send(
                .post, "/oauth/token",
                bytes: encoded([
                    ("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", rp.clientID),
                ]), headers: [("content-type", "application/x-www-form-urlencoded")])
            let tokens = try Tokens(answer)
            token = tokens.refresh
            return try [tokens.access, tokens.id ?? ""].map { try JWT($0) }
        }
    }
}
