import JSON
import OpenSSL
import Synchronization
import TestSupport
import Testing
import Time

@testable import Push

/// Notifications to a server that speaks HTTP/2 over TLS and checks the provider token, as Apple's does.
@Suite struct APNsTests {
    private let server: APNsTestServer
    private let time = TestClock()
    private let phones = Phones()
    private let losses = Losses()

    init() throws { server = try APNsTestServer() }

    private var settings: APNsSettings {
        APNsSettings(
            teamID: APNsTestServer.teamID, keyID: APNsTestServer.keyID, privateKey: server.privateKey,
            topic: APNsTestServer.topic, environment: .production, url: server.url,
            certificateAuthorities: server.certificate)
    }

    private func queue(
        _ settings: APNsSettings? = nil, knowing directory: (any PushDirectory & Sendable)? = nil
    ) -> PushQueue {
        let queue = PushQueue(.apns(settings ?? self.settings), clock: time.clock) { [phones] in
            directory ?? phones
        } onLoss: { [losses] outcome, reason in
            losses.add("\(outcome) \(reason)")
        }
        queue.start()
        return queue
    }

    private func notification(_ id: String = "1") -> PushNotification {
        PushNotification(
            title: "Sign-in", text: "요청", content: [("id", .string(id))], expiresAt: time.now + .seconds(180))
    }

    private func send(_ count: Int = 1, to user: Int64 = 1, by queue: PushQueue) {
        for number in 0..<count { queue.submit(notification("\(number)"), to: user) }
        #expect(queue.waitUntilEmpty(atMost: .seconds(60)))
    }

    private func counts(_ queue: PushQueue) -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: queue.counts.filter { $0.count > 0 }.map { ($0.outcome.rawValue, $0.count) })
    }

    @Test func aPhoneIsNotified() throws {
        let queue = queue()
        send(by: queue)
        let sent = try #require(server.notifications.first)
        #expect(server.faults == [])
        #expect(sent.token == "aa01" && sent.expiration == "\((time.now + .seconds(180)).seconds)")
        #expect(
            sent.payload == ["aps": ["alert": ["title": "Sign-in", "body": "요청"], "sound": "default"], "id": "0"])
        #expect(counts(queue) == ["sent": 1] && losses.all == [])
        queue.stop(atMost: .seconds(10))
    }

    /// Requests share one connection, and each has the provider token of those before.
    @Test func manyGoOverOneConnectionWithOneToken() throws {
        let queue = queue()
        send(by: queue)
        send(50, by: queue)
        #expect(server.faults == [] && server.notifications.count == 51)
        #expect(Set(server.notifications.map(\.connection)).count == 1)
        #expect(Set(server.notifications.map(\.providerToken)).count == 1)
        queue.stop(atMost: .seconds(10))
    }

    @Test func aProviderTokenIsUsedForFortyMinutes() throws {
        let queue = queue()
        send(by: queue)
        time.advance(by: .seconds(40 * 60 - 1))
        send(by: queue)
        time.advance(by: .seconds(1))
        send(by: queue)
        let tokens = server.notifications.map(\.providerToken)
        #expect(tokens[0] == tokens[1] && tokens[1] != tokens[2])
        queue.stop(atMost: .seconds(10))
    }

    @Test func anExpiredProviderTokenIsReplaced() throws {
        let queue = queue()
        send(by: queue)
        time.advance(by: .seconds(20 * 60))
        server.expireTokens(before: time.now)
        send(3, by: queue)
        #expect(counts(queue) == ["sent": 4] && losses.all == [])
        #expect(Set(server.notifications.map(\.providerToken)).count == 2)
        queue.stop(atMost: .seconds(10))
    }

    /// Apple would refuse a second one within 20 minutes: the clocks differ, and nothing helps but setting them.
    @Test func aYoungProviderTokenIsNotReplaced() throws {
        let queue = queue()
        server.expireTokens(before: time.now + .seconds(1))
        send(by: queue)
        #expect(server.notifications.count == 1 && counts(queue) == ["failed": 1])
        #expect(losses.all == ["failed APNs answered 403 ExpiredProviderToken"])
        queue.stop(atMost: .seconds(10))
    }

    @Test func aPhoneWithoutTheAppIsForgotten() throws {
        let queue = queue()
        server.reply(.refused(status: 410, reason: "Unregistered", more: #","timestamp":1778569200123"#))
        send(by: queue)
        #expect(phones.forgotten == ["aa01 1778569200123"] && counts(queue) == ["unregistered": 1])
        server.reply(.refused(status: 410, reason: "ExpiredToken"))
        send(by: queue)
        #expect(phones.forgotten == ["aa01 1778569200123", "aa01 nil"])
        queue.stop(atMost: .seconds(10))
    }

    @Test(arguments: [
        (429, "TooManyRequests"), (500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown"),
    ])
    func aBusyServerIsAskedAgain(status: Int, reason: String) throws {
        let queue = queue()
        server.reply(.refused(status: status, reason: reason, headers: [("retry-after", "1")]))
        send(by: queue)
        #expect(server.notifications.count == 2 && counts(queue) == ["sent": 1] && losses.all == [])
        queue.stop(atMost: .seconds(10))
    }

    /// Removed, or registered for another device or person, while the push waited for its next attempt.
    @Test(arguments: [[], [PushToken(device: 9, text: "aa01", environment: .production)]])
    func aTokenThatIsGoneIsNotTriedAgain(later: [PushToken]) throws {
        let directory = ChangingPhones(later)
        let queue = queue(knowing: directory)
        server.reply(.refused(status: 503, reason: "ServiceUnavailable", headers: [("retry-after", "1")]))
        send(by: queue)
        #expect(server.notifications.map(\.token) == ["aa01"] && counts(queue) == [:] && losses.all == [])
        queue.stop(atMost: .seconds(10))
    }

    @Test func whatWouldComeTooLateIsNotTriedAgain() throws {
        let queue = queue()
        server.reply(.refused(status: 503, reason: "ServiceUnavailable", headers: [("retry-after", "180")]))
        send(by: queue)
        #expect(counts(queue) == ["expired": 1] && losses.all == ["expired APNs answered 503 ServiceUnavailable"])
        queue.stop(atMost: .seconds(10))
    }

    @Test(arguments: [
        (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (403, "InvalidProviderToken"),
        (413, "PayloadTooLarge"),
    ])
    func whatIsWrongIsToldOnce(status: Int, reason: String) throws {
        let queue = queue()
        server.reply(.refused(status: status, reason: reason))
        send(by: queue)
        #expect(server.notifications.count == 1 && phones.forgotten == [])
        #expect(losses.all == ["failed APNs answered \(status) \(reason)"])
        queue.stop(atMost: .seconds(10))
    }

    /// Nothing that an answer says gets into the log but Apple's own words.
    @Test func anAnswerIsNotRepeated() throws {
        let queue = queue()
        server.reply(.refused(status: 400, reason: "a b\\nforged"))
        send(by: queue)
        #expect(losses.all == ["failed APNs answered 400 no reason"])
        queue.stop(atMost: .seconds(10))
    }

    @Test func whatIsLostIsSentAgain() throws {
        let queue = queue()
        server.reply(.lost, .lost)
        send(by: queue)
        #expect(server.notifications.count == 3 && counts(queue) == ["sent": 1] && losses.all == [])
        queue.stop(atMost: .seconds(10))
    }

    /// A connection may be dead without a word, and still be open here: what comes next goes over another one.
    @Test func aServerThatHangsIsLeft() throws {
        var settings = settings
        settings.timeout = .seconds(3)
        let queue = queue(settings)
        server.reply(.silence)
        send(by: queue)
        #expect(counts(queue) == ["sent": 1] && losses.all == [])
        #expect(Set(server.notifications.map(\.connection)).count == 2)
        queue.stop(atMost: .seconds(10))
    }

    /// An instance that stops while the server hangs is not held up for longer than it is given.
    @Test func aStopDoesNotWaitForAServerThatHangs() throws {
        let queue = queue()
        server.reply(.silence)
        queue.submit(notification(), to: 1)
        #expect(server.wait(forNotifications: 1))
        queue.stop(atMost: .milliseconds(200))
        #expect(losses.all == ["dropped the instance stopped before it was sent"])
    }

    /// It may be back before the notification is of no use.
    @Test func aServerThatIsDownIsNoFailure() throws {
        var settings = settings
        settings.url = "https://localhost:\(try freePort())"
        let queue = queue(settings)
        queue.submit(notification(), to: 1)
        queue.stop(atMost: .seconds(30))
        #expect(counts(queue) == ["dropped": 1])
    }

    @Test func everyPhoneOfAPersonGetsIt() throws {
        let queue = queue()
        send(to: 2, by: queue)
        // The third is registered for the other environment.
        #expect(Set(server.notifications.map(\.token)) == ["bb01", "bb02"])
        #expect(counts(queue) == ["sent": 2])
        send(to: 3, by: queue)
        #expect(counts(queue) == ["sent": 2])
        queue.stop(atMost: .seconds(10))
    }

    @Test func aServerThatIsNotApplesGetsNothing() throws {
        var settings = settings
        settings.certificateAuthorities = nil
        let queue = queue(settings)
        queue.submit(notification(), to: 1)
        queue.stop(atMost: .seconds(30))
        #expect(server.notifications.isEmpty && counts(queue) == ["dropped": 1])
    }

    @Test func aServerWithoutHTTP2IsAFailure() throws {
        let old = try APNsTestServer(protocols: "")
        var settings = settings
        settings.url = old.url
        settings.certificateAuthorities = old.certificate
        let queue = queue(settings)
        queue.submit(notification(), to: 1)
        queue.stop(atMost: .seconds(30))
        #expect(counts(queue) == ["dropped": 1])
    }
}

/// The devices of people.
final class Phones: PushDirectory, Sendable {
    private let gone = Mutex<[String]>([])
    var forgotten: [String] { gone.withLock { $0 } }

    func tokens(of user: Int64) -> [PushToken] {
        switch user {
        case 1: [PushToken(device: 1, text: "aa01", environment: .production)]
        case 2:
            [
                PushToken(device: 2, text: "bb01", environment: .production),
                PushToken(device: 3, text: "bb02", environment: .production),
                PushToken(device: 4, text: "bb03", environment: .sandbox),
            ]
        default: []
        }
    }

    func forget(_ token: PushToken, goneSince time: Timestamp?) {
        gone.withLock { $0.append("\(token.text) \(time.map { "\($0.milliseconds)" } ?? "nil")") }
    }
}

/// Their tokens change after the first look.
private final class ChangingPhones: PushDirectory, Sendable {
    private let looks = Atomic(0)
    private let later: [PushToken]

    init(_ later: [PushToken]) { self.later = later }

    func tokens(of user: Int64) -> [PushToken] {
        looks.add(1, ordering: .relaxed).oldValue == 0 ? Phones().tokens(of: user) : later
    }

    func forget(_ token: PushToken, goneSince time: Timestamp?) {}
}

final class Losses: Sendable {
    private let told = Mutex<[String]>([])
    var all: [String] { told.withLock { $0 } }
    func add(_ loss: String) { told.withLock { $0.append(loss) } }
}
