import Foundation
import IdentityTokens
import JOSE
import JSON
import Synchronization
import TestSupport
import Testing
import Threads
import Time

/// How key sets are fetched, kept and renewed: rotations, outages, slow providers, invalid answers, cold starts.
@Suite struct KeySetTests {
    private let clock = TestClock()
    private let issuer: TestIssuer
    private let server: LocalHTTPServer
    private let reply: Replies

    /// The server's answers; by default the issuer's key set, at once.
    private final class Replies: Sendable {
        private struct State {
            var reply: LocalHTTPServer.Reply?
            var isHeld = false
        }

        private let state = Monitor(State())

        /// Waits while it is held.
        var current: LocalHTTPServer.Reply? {
            state.wait(atMost: .seconds(60)) { $0.isHeld ? nil : $0 }?.reply
        }

        func set(_ new: LocalHTTPServer.Reply?) { state.change { $0.reply = new } }

        /// Makes the server answer nobody until `release()`.
        func hold() { state.change { $0.isHeld = true } }

        func release() { state.change { $0.isHeld = false } }
    }

    /// Limits that even a busy machine meets, so that a caller which waits for a fetch sees its end.
    private static let unhurried: KeySetLimits = {
        var limits = KeySetLimits()
        limits.patience = .seconds(60)
        limits.fetchTimeout = .seconds(60)
        return limits
    }()

    init() throws {
        let issuer = TestIssuer(.apple, clock: clock.clock)
        let reply = Replies()
        self.issuer = issuer
        self.reply = reply
        server = try LocalHTTPServer { _ in
            reply.current
                ?? .response(headers: [("cache-control", "public, max-age=7200")], body: issuer.keySetJSON)
        }
    }

    private func verifier(
        cacheDirectory: String? = nil, initial: Bool = false, limits: KeySetLimits = unhurried
    ) -> IdentityTokenVerifier {
        IdentityTokenVerifier(
            providers: [.apple: issuer.settings(jwksURL: server.url)], cacheDirectory: cacheDirectory,
            clock: clock.clock, limits: limits, initialKeySets: initial ? [.apple: issuer.keySetJSON] : [:])
    }

    private func verify(_ verifier: IdentityTokenVerifier, _ token: String? = nil) throws {
        _ = try verifier.verify(token ?? issuer.token(), rawNonce: "nonce", provider: .apple)
    }

    private func status(_ verifier: IdentityTokenVerifier) throws -> KeySetStatus {
        try #require(verifier.status[.apple])
    }

    /// Waits until the thread has finished this many fetches.
    private func waitForFetches(_ count: Int, _ verifier: IdentityTokenVerifier) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try status(verifier).fetches < count {
            try #require(ContinuousClock.now < deadline, "fetch \(count) did not come")
            usleep(1000)
        }
    }

    /// Makes the thread look at the clock, and waits until it has done what it then decided. It may be on its way to look
    /// already, and looks twice for that; the next time is after the fetch, or when it is woken again.
    private func letLook(_ verifier: IdentityTokenVerifier) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        for _ in 0..<3 {
            let reads = clock.reads
            verifier.wake()
            while clock.reads == reads {
                try #require(ContinuousClock.now < deadline, "the thread does not look")
                usleep(1000)
            }
        }
    }

    private func token(_ signer: Signer) -> String {
        TestIssuer.token(header: TestIssuer.header(signer), claims: issuer.claims(), signer)
    }

    // MARK: Fetching

    @Test func firstTokenFetchesTheSet() throws {
        let verifier = verifier()
        #expect(try !status(verifier).isReady)
        try verify(verifier)
        try verify(verifier)
        #expect(server.requests.count == 1)
        let status = try status(verifier)
        #expect(status.isReady)
        #expect(status.keyCount == 2)
        #expect(status.fetchedAt == clock.now)
        #expect(status.expiresAt == clock.now + .seconds(7200))
        #expect(status.fetches == 1)
    }

    @Test func startFetchesTheSet() throws {
        let verifier = verifier()
        verifier.start()
        try waitForFetches(1, verifier)
        #expect(try status(verifier).isReady)
        try verify(verifier)
        #expect(server.requests.count == 1)
    }

    @Test func noAudienceOfAProviderWithoutSettingsIsOurs() {
        #expect(throws: InvalidIdentityToken(.wrongAudience)) {
            try verifier().verify(issuer.token(), rawNonce: "nonce", provider: .google)
        }
    }

    @Test(arguments: [
        ("max-age=7200", 7200), ("public, max-age=7200, must-revalidate", 7200), ("MAX-AGE=7200", 7200),
        ("max-age=\"7200\"", 7200), ("public ,  max-age=7200", 7200), ("max-age=0", 300), ("max-age=299", 300),
        ("max-age=86401", 86_400), ("max-age=99999999999999999999", 86_400), ("no-store", 3600), ("", 3600),
        ("max-age", 3600), ("max-age=", 3600), ("max-age=-1", 3600), ("max-age=1h", 3600), ("s-maxage=7200", 3600),
        ("x-max-age=7200", 3600),
    ])
    func lifetimeIsMaxAgeWithinBounds(header: String, seconds: Int) throws {
        reply.set(.response(headers: [("Cache-Control", header)], body: issuer.keySetJSON))
        let verifier = verifier()
        try verify(verifier)
        #expect(try status(verifier).expiresAt == clock.now + .seconds(seconds))
    }

    @Test func lifetimeWithoutHeaderIsAnHour() throws {
        reply.set(.response(body: issuer.keySetJSON))
        let verifier = verifier()
        try verify(verifier)
        #expect(try status(verifier).expiresAt == clock.now + .seconds(3600))
    }

    @Test func setIsRenewedBeforeItExpires() throws {
        let verifier = verifier()
        verifier.start()
        try waitForFetches(1, verifier)
        clock.advance(by: .seconds(3599))
        try letLook(verifier)
        try verify(verifier)
        #expect(server.requests.count == 1)

        issuer.publish([TestIssuer.otherRSA])
        clock.advance(by: .seconds(1801))
        verifier.wake()
        try waitForFetches(2, verifier)
        try verify(verifier, token(TestIssuer.otherRSA))
        #expect(throws: InvalidIdentityToken(.unknownKey)) { try verify(verifier, token(TestIssuer.p256)) }
    }

    @Test func shortLivedSetIsNotRenewedSoonerThanFiveMinutes() throws {
        reply.set(.response(headers: [("cache-control", "max-age=0")], body: issuer.keySetJSON))
        let verifier = verifier()
        verifier.start()
        try waitForFetches(1, verifier)
        clock.advance(by: .seconds(299))
        try letLook(verifier)
        try verify(verifier)
        #expect(server.requests.count == 1)
        clock.advance(by: .seconds(1))
        verifier.wake()
        try waitForFetches(2, verifier)
    }

    @Test func clockSetBackRenewsTheSet() throws {
        let verifier = verifier()
        verifier.start()
        try waitForFetches(1, verifier)
        clock.advance(by: .seconds(-365 * 86_400))
        verifier.wake()
        try waitForFetches(2, verifier)
        #expect(try status(verifier).fetchedAt == clock.now)
    }

    /// A program that never called `start` renews its set, too.
    @Test func useRenewsTheSet() throws {
        let verifier = verifier(initial: true)
        try verify(verifier)
        #expect(server.requests.isEmpty)
        clock.advance(by: .seconds(3600))
        try verify(verifier)
        try waitForFetches(1, verifier)
    }

    // MARK: Rotation

    @Test func unknownKeyFetchesTheNextSet() throws {
        let verifier = verifier()
        try verify(verifier)
        issuer.publish([TestIssuer.rsa, TestIssuer.otherRSA])
        try verify(verifier, token(TestIssuer.otherRSA))
        try verify(verifier)
        #expect(server.requests.count == 2)
    }

    @Test func unknownKeysFetchOnceAMinute() throws {
        let verifier = verifier(initial: true)
        let unknown = issuer.token(kid: "unknown")
        for round in 1...3 {
            for _ in 0..<10 {
                #expect(throws: InvalidIdentityToken(.unknownKey)) { try verify(verifier, unknown) }
            }
            #expect(server.requests.count == round)
            clock.advance(by: .seconds(59))
            #expect(throws: InvalidIdentityToken(.unknownKey)) { try verify(verifier, unknown) }
            #expect(server.requests.count == round)
            clock.advance(by: .seconds(1))
        }
    }

    /// A key of another type under a known id counts as unknown, and triggers fetches as rarely.
    @Test func aKeyOfAnotherTypeFetchesTheNextSet() throws {
        let verifier = verifier()
        try verify(verifier)
        let renamed = Signer(keyID: TestIssuer.rsa.keyID, key: TestIssuer.ellipticCurveKey)
        #expect(throws: InvalidIdentityToken(.unsupportedAlgorithm)) { try verify(verifier, token(renamed)) }
        #expect(server.requests.count == 2)
        issuer.publish([TestIssuer.rsa, renamed])
        for _ in 0..<10 {
            #expect(throws: InvalidIdentityToken(.unsupportedAlgorithm)) { try verify(verifier, token(renamed)) }
        }
        #expect(server.requests.count == 2)
        clock.advance(by: .seconds(60))
        try verify(verifier, token(renamed))
        try verify(verifier)
        #expect(server.requests.count == 3)
    }

    @Test func tenThousandUnknownKeysFetchOnce() throws {
        var limits = KeySetTests.unhurried
        limits.waitingCallers = 8
        let verifier = verifier(initial: true, limits: limits)
        let tokens = (0..<10_000).map { issuer.token(kid: "unknown-\($0)", alg: .es256) }
        let refusals = Atomic(0)
        let threads = (0..<8).map { thread in
            Thread {
                for token in tokens[thread * 1250..<(thread + 1) * 1250] {
                    do {
                        _ = try verifier.verify(token, rawNonce: "nonce", provider: .apple)
                    } catch let error as InvalidIdentityToken where error.reason == .unknownKey {
                        refusals.add(1, ordering: .relaxed)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        threads.forEach { $0.join() }
        #expect(refusals.load(ordering: .relaxed) == 10_000)
        #expect(server.requests.count == 1)
    }

    @Test func tokensWithoutKeyNameFetchNothing() {
        let verifier = verifier(initial: true)
        for header in [["alg": "RS256"], ["alg": "none", "kid": "x"], ["alg": "RS256", "kid": 1]]
            as [[String: JSONValue]]
        {
            let token = TestIssuer.token(header: header, claims: issuer.claims(), TestIssuer.rsa)
            #expect(throws: InvalidIdentityToken.self) { try verify(verifier, token) }
        }
        #expect(server.requests.isEmpty)
    }

    // MARK: Outage

    @Test func withoutAnySetNothingCanBeChecked() throws {
        reply.set(.response(status: 503))
        let verifier = verifier()
        #expect(throws: KeySetUnavailable(.apple)) { try verify(verifier) }
        #expect(throws: KeySetUnavailable(.apple)) { try verify(verifier) }
        #expect(server.requests.count == 1)
        #expect(try status(verifier).lastError == "status 503")
        #expect(try !status(verifier).isReady)

        reply.set(nil)
        clock.advance(by: .seconds(5))
        try verify(verifier)
        #expect(try status(verifier).lastError == nil)
        #expect(try status(verifier).failures == 1)
    }

    @Test func faultyTokensNeedNoSet() {
        reply.set(.response(status: 503))
        let verifier = verifier()
        #expect(throws: InvalidIdentityToken(.malformedToken)) { try verify(verifier, "a.b.c") }
        let header: [String: JSONValue] = ["alg": "none", "kid": "rsa"]
        #expect(throws: InvalidIdentityToken(.unsupportedAlgorithm)) {
            try verify(verifier, TestIssuer.token(header: header, claims: issuer.claims(), TestIssuer.rsa))
        }
        #expect(server.requests.isEmpty)
    }

    @Test func failedFetchesAreRepeatedWithGrowingPauses() throws {
        reply.set(.response(status: 500))
        let verifier = verifier()
        verifier.start()
        try waitForFetches(1, verifier)
        for (fetches, pause) in [5, 10, 20, 40, 60, 60].enumerated() {
            clock.advance(by: .seconds(pause) - .milliseconds(1))
            try letLook(verifier)
            #expect(server.requests.count == fetches + 1)
            clock.advance(by: .milliseconds(1))
            verifier.wake()
            try waitForFetches(fetches + 2, verifier)
        }
        #expect(try status(verifier).failures == 7)
    }

    @Test func oldSetServesADayPastItsLifetime() throws {
        let verifier = verifier()
        try verify(verifier)
        reply.set(.response(status: 500))
        clock.advance(by: .seconds(7200 + 86_400) - .milliseconds(1))
        try verify(verifier)
        #expect(try status(verifier).isReady)
        clock.advance(by: .milliseconds(1))
        #expect(throws: KeySetUnavailable(.apple)) { try verify(verifier) }
        #expect(try !status(verifier).isReady)

        reply.set(nil)
        clock.advance(by: .seconds(60))
        try verify(verifier)
    }

    @Test func unknownKeyDuringAnOutageIsUnknown() throws {
        let verifier = verifier(initial: true)
        reply.set(.response(status: 500))
        #expect(throws: InvalidIdentityToken(.unknownKey)) { try verify(verifier, issuer.token(kid: "unknown")) }
        try verify(verifier)
    }

    @Test func uselessAnswersReplaceNothing() throws {
        let encryptionKey = Array(#"{"keys":[{"kty":"RSA","kid":"rsa","use":"enc","n":"AQAB","e":"AQAB"}]}"#.utf8)
        let useless: [(LocalHTTPServer.Reply, String)] = [
            (.response(body: Array("<html>".utf8)), "not a JWK Set"), (.response(), "not a JWK Set"),
            (.response(body: Array(#"{"keys":{}}"#.utf8)), "not a JWK Set"),
            (.response(body: Array(#"{"keys":[]}"#.utf8)), "a JWK Set without a usable key"),
            (.response(body: encryptionKey), "a JWK Set without a usable key"),
            (.response(status: 404, body: issuer.keySetJSON), "status 404"),
            (.response(status: 302, headers: [("location", server.url)]), "status 302"),
            (.endless, "the answer is larger than 262144 bytes"),
            (.raw(Array("garbage\r\n\r\n".utf8)), "Received HTTP/0.9 when not allowed"),
        ]
        // Only unknown keys have it fetch: when it would try again by itself, the thread judges by the time of both clocks.
        var limits = KeySetTests.unhurried
        limits.retryPause = .seconds(86_400)...(.seconds(86_400))
        let verifier = verifier(initial: true, limits: limits)
        for (answer, error) in useless {
            reply.set(answer)
            #expect(throws: InvalidIdentityToken(.unknownKey)) { try verify(verifier, issuer.token(kid: "unknown")) }
            #expect(try status(verifier).lastError == error)
            try verify(verifier)
            clock.advance(by: .seconds(60))
        }
        #expect(try status(verifier).failures == useless.count)
    }

    // MARK: Slow provider

    @Test func callersWaitForASlowProviderOnlyBriefly() throws {
        reply.set(.response(status: 500))
        reply.hold()
        var limits = KeySetTests.unhurried
        limits.patience = .milliseconds(100)
        let verifier = verifier(initial: true, limits: limits)
        let time = try ContinuousClock().measure {
            #expect(throws: InvalidIdentityToken(.unknownKey)) { try verify(verifier, issuer.token(kid: "unknown")) }
            // The fetch still goes on; known keys do not mind.
            for _ in 0..<10 { try verify(verifier) }
            #expect(try status(verifier).fetches == 0)
        }
        #expect(time >= .milliseconds(100))
        reply.release()
        try waitForFetches(1, verifier)
        #expect(try status(verifier).failures == 1)
    }

    @Test func aProviderThatIsSilentIsGivenUp() throws {
        reply.set(.silence)
        var limits = KeySetTests.unhurried
        limits.fetchTimeout = .milliseconds(100)
        let verifier = verifier(initial: true, limits: limits)
        #expect(throws: InvalidIdentityToken(.unknownKey)) { try verify(verifier, issuer.token(kid: "unknown")) }
        let status = try status(verifier)
        #expect(status.fetches == 1 && status.failures == 1)
        #expect(status.lastError?.contains("timed out") == true, "\(status.lastError ?? "no error")")
    }

    @Test func onlySomeCallersWait() throws {
        reply.hold()
        var limits = KeySetTests.unhurried
        limits.waitingCallers = 2
        let verifier = verifier(initial: true, limits: limits)
        let unknown = issuer.token(kid: "unknown")
        let turnedAway = Monitor(0)
        let threads = (0..<5).map { _ in
            Thread {
                do {
                    _ = try verifier.verify(unknown, rawNonce: "nonce", provider: .apple)
                } catch is KeySetUnavailable {
                    turnedAway.change { $0 += 1 }
                } catch {}
            }
        }
        #expect(turnedAway.wait(atMost: .seconds(30)) { $0 >= 3 ? $0 : nil } == 3)
        reply.release()
        threads.forEach { $0.join() }
        #expect(turnedAway.withLock { $0 } == 3)
        #expect(server.requests.count == 1)
        #expect(throws: Never.self) { try verify(verifier) }
    }

    /// Two slow providers hold no more callers than one. They hold none if other waiting requests leave no room.
    @Test(arguments: [2, 1, 0]) func callersOfAllProvidersAreCountedTogether(permits: Int) throws {
        reply.set(.response(status: 500))
        reply.hold()
        var limits = KeySetTests.unhurried
        limits.waitingCallers = 2
        let google = TestIssuer(.google, clock: clock.clock)
        // Of that many workers, so many may wait for somebody outside.
        let gate = SlowPeerGate(workers: [0: 1, 1: 2, 2: 3][permits] ?? 0)
        let verifier = IdentityTokenVerifier(
            providers: [.apple: issuer.settings(jwksURL: server.url), .google: google.settings(jwksURL: server.url)],
            cacheDirectory: nil, clock: clock.clock, limits: limits, slowPeers: gate)
        let turnedAway = Monitor(0)
        let threads = (0..<6).map { number in
            let (provider, token) = number % 2 == 0 ? (Provider.apple, issuer.token()) : (.google, google.token())
            return Thread {
                #expect(throws: KeySetUnavailable(provider)) {
                    try verifier.verify(token, rawNonce: "nonce", provider: provider)
                }
                turnedAway.change { $0 += 1 }
            }
        }
        // These wait for nobody, and the others until the fetch is over.
        #expect(turnedAway.wait(atMost: .seconds(30)) { $0 >= 6 - permits ? $0 : nil } == 6 - permits)
        reply.release()
        threads.forEach { $0.join() }
        #expect(gate.pass(for: [], { true }) == (permits > 0 ? true : nil))
    }

    @Test func stoppingReleasesEverybody() throws {
        reply.set(.silence)
        var limits = KeySetTests.unhurried
        limits.fetchTimeout = .milliseconds(500)
        let verifier = verifier(limits: limits)
        let token = issuer.token()
        let waiting = Thread { _ = try? verifier.verify(token, rawNonce: "nonce", provider: .apple) }
        try #require(server.waitForRequests(1))
        verifier.stop()
        waiting.join()
        #expect(throws: KeySetUnavailable(.apple)) { try verify(verifier) }
        verifier.stop()
    }

    // MARK: Cold start

    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "merganser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.path)
    }

    @Test func lastGoodSetServesAStartWithoutNetwork() throws {
        try withDirectory { directory in
            try verify(verifier(cacheDirectory: directory))
            reply.set(.response(status: 500))
            clock.advance(by: .seconds(7200 + 86_399))
            let next = verifier(cacheDirectory: directory)
            #expect(try status(next).isReady)
            try verify(next)
            try verify(next, issuer.token(alg: .es256))

            clock.advance(by: .seconds(1))
            let late = verifier(cacheDirectory: directory)
            #expect(throws: KeySetUnavailable(.apple)) { try verify(late) }
        }
    }

    @Test func startWithAKeptSetRenewsItAtOnce() throws {
        try withDirectory { directory in
            try verify(verifier(cacheDirectory: directory))
            let next = verifier(cacheDirectory: directory)
            next.start()
            try waitForFetches(1, next)
        }
    }

    @Test func uselessFilesAreIgnored() throws {
        try withDirectory { directory in
            try verify(verifier(cacheDirectory: directory))
            let file = "\(directory)/apple-keys.json"
            let good = try JSONValue(json: Array(Data(contentsOf: URL(filePath: file))))
            guard case .object(let members) = good else {
                Issue.record("not an object")
                return
            }
            func changed(_ name: String, _ value: JSONValue) -> [UInt8] {
                JSONValue.object(JSONObject(members.members.map { ($0.name, $0.value) } + [(name, value)])).json()
            }
            reply.set(.response(status: 500))
            let useless = [
                [], Array("{".utf8), Array("{}".utf8), [UInt8](repeating: 0, count: 100), Array(good.json().dropLast()),
                changed("address", "https://example.com/keys"),
                changed("key_set", ["keys": []]), changed("key_set", "x"),
                changed("fetched_at", .integer(.min)), changed("fetched_at", .integer(.max)),
                changed("expires_at", .integer(.min)), changed("expires_at", .integer(.max)),
                changed("fetched_at", .integer(clock.now.milliseconds + 1)),
            ]
            for contents in useless {
                try Data(contents).write(to: URL(filePath: file))
                #expect(throws: KeySetUnavailable(.apple)) { try verify(verifier(cacheDirectory: directory)) }
            }
            try Data(changed("fetched_at", .integer(clock.now.milliseconds))).write(to: URL(filePath: file))
            try verify(verifier(cacheDirectory: directory))
        }
    }

    @Test func directoryThatIsNotThereIsNoMatter() throws {
        try verify(verifier(cacheDirectory: "/nonexistent/merganser"))
    }
}
