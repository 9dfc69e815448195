import Fetch
import JSON
package import OpenSSL
import Text
import Time

/// How Apple's push server is reached, and as whom.
package struct APNsSettings: Sendable {
    package var teamID: String
    package var keyID: String
    /// P-256.
    package var privateKey: PrivateKey
    /// The app's bundle id.
    package var topic: String
    package var environment: PushToken.Environment
    /// Without a slash at the end.
    package var url: String
    /// A PEM file of certificates to trust instead of the system's.
    package var certificateAuthorities: String?
    /// The time until a connection is made, including name resolution and TLS.
    package static let connectTimeout = Duration.seconds(5)
    /// The time for a whole notification.
    package static let timeout = Duration.seconds(15)
    package var timeout = Self.timeout

    package init(
        teamID: String, keyID: String, privateKey: PrivateKey, topic: String, environment: PushToken.Environment,
        url: String? = nil, certificateAuthorities: String? = nil
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = privateKey
        self.topic = topic
        self.environment = environment
        self.url = url ?? environment.host
        self.certificateAuthorities = certificateAuthorities
    }
}

extension PushToken.Environment {
    package var host: String {
        switch self {
        case .sandbox: "https://api.sandbox.push.apple.com"
        case .production: "https://api.push.apple.com"
        }
    }
}

/// Sends to Apple's server over one connection of HTTP/2 (Apple, "Sending notification requests to APNs").
final class APNsSender: PushSender {
    private let settings: APNsSettings
    private let clock: Clock
    private let client: HTTP2Client<Int>
    private var providerToken: ProviderToken
    /// The provider token that each request has.
    private var tokens: [Int: String] = [:]
    /// Outcomes of what was not sent.
    private var outcomes: [(key: Int, outcome: PushOutcome)] = []

    init(_ settings: APNsSettings, _ clock: Clock) throws(FetchError) {
        self.settings = settings
        self.clock = clock
        var options = Fetcher.Options()
        options.connectTimeout = APNsSettings.connectTimeout
        options.timeout = settings.timeout
        options.maximumSize = 4096
        options.cutsBody = true
        options.certificateAuthorities = settings.certificateAuthorities
        client = try HTTP2Client(options)
        providerToken = ProviderToken(settings)
    }

    func send(_ notification: PushNotification, to token: PushToken, as key: Int) {
        guard token.environment == settings.environment else { return outcomes.append((key, .skipped)) }
        do {
            let bearer = try providerToken.text(at: clock.now)
            tokens[key] = bearer
            client.post(
                "\(settings.url)/3/device/\(token.text)",
                headers: [
                    ("authorization", "bearer \(bearer)"), ("apns-topic", settings.topic), ("apns-push-type", "alert"),
                    ("apns-priority", "10"), ("apns-expiration", "\(notification.expiresAt.seconds)"),
                    ("content-type", "application/json"),
                ], body: notification.payload, as: key)
        } catch {
            outcomes.append((key, .failed("\(error)")))
        }
    }

    func poll(atMost time: Duration) -> [(key: Int, outcome: PushOutcome)] {
        defer { outcomes = [] }
        let completions = client.poll(atMost: outcomes.isEmpty ? time : .zero)
        return outcomes
            + completions.map { completion -> (key: Int, outcome: PushOutcome) in
                let token = tokens.removeValue(forKey: completion.key)
                do {
                    return (completion.key, outcome(of: try completion.result.get(), sentWith: token))
                } catch {
                    return (completion.key, .retry(after: nil, "\(error)"))
                }
            }
    }

    private struct Refusal: Decodable {
        var reason: String?
        /// Milliseconds since the epoch.
        var timestamp: Int64?
    }

    /// Apple, "Handling notification responses from APNs".
    private func outcome(of response: Fetcher.Response, sentWith token: String?) -> PushOutcome {
        if response.status == 200 { return .sent }
        let refusal = try? Refusal(json: response.body)
        // What a stranger's server says is only repeated if it is one of Apple's words.
        let reason = refusal?.reason.flatMap { $0.utf8.allSatisfy(isLetter) ? $0 : nil } ?? "no reason"
        let told = "APNs answered \(response.status) \(reason)"
        let wait = response.header("retry-after").flatMap(Int.init).map { Duration.seconds(min(max($0, 1), 3600)) }
        switch (response.status, reason) {
        case (410, _):
            return .unregistered(since: refusal?.timestamp.map(Timestamp.init(milliseconds:)))
        case (403, "ExpiredProviderToken"):
            // Requests that were under way together find it replaced by the first of them.
            let isReplaced = (try? providerToken.text(at: clock.now)) != token
            return isReplaced || providerToken.renew(at: clock.now) ? .retry(after: .zero, told) : .failed(told)
        case (429, _), (500..., _): return .retry(after: wait, told)
        default: return .failed(told)
        }
    }
}

private func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: false
    }
}
