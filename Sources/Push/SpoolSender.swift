import Files
import JSON
import Time

/// Writes notifications to a file.
final class SpoolSender: PushSender {
    private let folder: String
    private let clock: Clock
    private var outcomes: [(key: Int, outcome: PushOutcome)] = []

    init(_ folder: String, _ clock: Clock) {
        self.folder = folder
        self.clock = clock
    }

    func send(_ notification: PushNotification, to token: PushToken, as key: Int) {
        let line: JSONValue = [
            "at": .string(clock.now.iso8601), "token": .string(token.text),
            "environment": .string(token.environment.rawValue),
            "expires_at": .string(notification.expiresAt.iso8601),
            "payload": (try? JSONValue(json: notification.payload)) ?? .null,
        ]
        do {
            try Spool.append(line.json(), to: "\(folder)/\(PushSettings.spoolFile)")
            outcomes.append((key, .sent))
        } catch {
            outcomes.append((key, .failed("\(error)")))
        }
    }

    func poll(atMost time: Duration) -> [(key: Int, outcome: PushOutcome)] {
        defer { outcomes = [] }
        return outcomes
    }
}
