package import Files
import Time

/// What takes notifications from here. One thread calls it.
protocol PushSender: AnyObject {
    /// Begins to send. The outcome comes from `poll`.
    ///
    /// - Parameter key: no other that is under way has it.
    func send(_ notification: PushNotification, to token: PushToken, as key: Int)
    /// Waits until one of the notifications under way has an outcome, or the time is over.
    func poll(atMost time: Duration) -> [(key: Int, outcome: PushOutcome)]
}

/// What became of one attempt.
enum PushOutcome: Equatable, Sendable {
    case sent
    /// The app is gone from the device.
    case unregistered(since: Timestamp?)
    /// Another attempt may succeed, not before this time has passed.
    case retry(after: Duration?, String)
    case failed(String)
    /// The token is for another server than the one that is configured.
    case skipped
}

/// How the server sends notifications.
package enum PushSettings: Sendable {
    case apns(APNsSettings)
    /// Notifications go to nobody: each is a line of JSON in the file `push.jsonl` of this folder. For development.
    case spool(folder: String)
}

extension PushSettings {
    package static let spoolFile = "push.jsonl"

    /// Makes the folder of the spool file.
    package func prepare() throws(FileError) {
        if case .spool(let folder) = self { try Folder.make(folder) }
    }

    func makeSender(at clock: Clock) throws -> any PushSender {
        switch self {
        case .apns(let settings): try APNsSender(settings, clock)
        case .spool(let folder): SpoolSender(folder, clock)
        }
    }
}
