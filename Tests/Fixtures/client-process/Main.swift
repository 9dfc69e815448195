import Foundation
import MerganserAuth
import MerganserClient

/// An app in a process of its own, which a test may kill and start again on the same stores.
///
/// Arguments: `refresh`, `expiries` or `lives`; the folder of its stores, client_id, issuer, the issuer that tokens name, and
/// how often. Exit status: 0, 2 if somebody is signed out who has not asked for it, 3 for every other failure.
@main struct Main {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 7, let issuer = URL(string: arguments[4]), let times = Int(arguments[6]) else {
            exit(64)
        }
        let app = App(
            folder: arguments[2],
            config: MerganserConfig(
                clientID: arguments[3], redirectURI: "myapp://oauth/callback", issuer: issuer,
                tokenIssuer: URL(string: arguments[5])))
        do {
            switch arguments[1] {
            case "refresh": try await app.refresh(times)
            case "expiries": try await app.expiries(times)
            case "lives": try await app.lives(times)
            default: exit(64)
            }
        } catch MerganserError.signedOut(let reason) {
            FileHandle.standardError.write(Data("signed out: \(reason)\n".utf8))
            exit(2)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(3)
        }
    }
}

struct App {
    let folder: String
    let config: MerganserConfig

    func store(_ name: String) -> FileStore { FileStore(folder: URL(filePath: "\(folder)/\(name)")) }

    /// Refreshes a sign-in that the test stored, and prints the refresh token of each answer. It does not give up: a test kills
    /// it.
    func refresh(_ times: Int) async throws {
        let session = try AuthSession(
            config, store: store("store"), browser: NoBrowser(),
            transport: URLSessionTransport(timeout: .seconds(2)), clock: SystemClock(),
            backoff: Backoff(longest: .seconds(1), attempts: .max))
        for _ in 0..<times { say("\(try await session.refresh().refreshToken)\n") }
    }

    /// At each expiry of the access token it asks for a fresh one, at the same time as another process, with which it shares
    /// descriptor 0, a socket.
    func expiries(_ times: Int) async throws {
        let transport = URLSessionTransport(timeout: .seconds(10))
        for time in 1...times {
            // As the first start after so long: what was learned of the server's clock is in the store.
            let clock = LaterClock(later: Double(time) * 1000)
            let session = try AuthSession(
                config, store: store("store"), browser: NoBrowser(), transport: transport, clock: clock)
            try meet()
            // At the same time, while the other asks, or just after it has stored its answer.
            try await Task.sleep(for: .milliseconds(.random(in: 0...40)))
            _ = try await session.accessToken()
            say(".")
        }
    }

    private func meet() throws {
        try FileHandle.standardInput.write(contentsOf: Data([0]))
        guard try FileHandle.standardInput.read(upToCount: 1)?.count == 1 else { throw MerganserError.offline }
    }
}

/// A device whose date is late by so many seconds.
private struct LaterClock: DeviceClock {
    let later: TimeInterval

    var date: Date { SystemClock().date + later }
    var uptime: Duration { SystemClock().uptime }
    func sleep(for duration: Duration) async throws { try await SystemClock().sleep(for: duration) }
}

struct NoBrowser: Browser {
    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? { nil }
}

func say(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
