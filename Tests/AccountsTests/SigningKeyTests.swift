import Testing
import Time

@testable import Accounts

/// When a key may sign (accounts §2.10).
@Suite struct SigningKeyTests {
    private static let now = Timestamp(seconds: 1_778_569_200)

    private func key(
        _ keyID: String = "b", published: Int, activated: Int? = nil, retired: Int? = nil, isPublished: Bool = true
    ) -> SigningKey {
        func time(_ seconds: Int) -> Timestamp { Self.now + .seconds(seconds) }
        return SigningKey(
            keyID: keyID, isPublished: isPublished, publishedAt: time(published), activatedAt: activated.map(time),
            retiredAt: retired.map(time))
    }

    private func start(_ keys: [SigningKey], isForced: Bool) throws -> Int {
        let start = try keys.start(of: keys[keys.count - 1], at: Self.now, isForced: isForced)
        return Int(start.seconds - Self.now.seconds)
    }

    @Test(arguments: [true, false]) func theFirstKeySignsAtOnce(_ isForced: Bool) throws {
        #expect(try start([key(published: 0)], isForced: isForced) == 0)
        #expect(try start([key("a", published: -9), key(published: -5)], isForced: isForced) == 0)
        // The tool ran on a machine whose clock is behind.
        #expect(try start([key(published: 3)], isForced: isForced) == 3)
    }

    /// For 30 seconds after the publication, a server may still hand out the key set without the new key, and clients
    /// may cache that for an hour.
    @Test(arguments: [(-3600, 30), (-3601, 29), (-3629, 1), (-3630, 0), (-100_000, 0)])
    func aLaterKeySignsWhenEveryKeySetHasIt(_ published: Int, _ expected: Int) throws {
        let active = key("a", published: -200_000, activated: -200_000)
        #expect(try start([active, key(published: published)], isForced: false) == expected)
    }

    @Test(arguments: [0, -1, -3599]) func aKeyThatClientsMayNotKnowIsRefused(_ published: Int) throws {
        let active = key("a", published: -200_000, activated: -200_000)
        let error = try #require(throws: RefusedOperation.self) {
            try start([active, key(published: published)], isForced: false)
        }
        let known = (Self.now + .seconds(published + 3600)).iso8601
        #expect(error.description.contains("before \(known)") && error.description.contains("--force"))
    }

    @Test(arguments: [(0, 30), (-1, 29), (-30, 0), (-3600, 0)])
    func aForcedKeyWaitsForTheServers(_ published: Int, _ expected: Int) throws {
        let active = key("a", published: -200_000, activated: -200_000)
        #expect(try start([active, key(published: published)], isForced: true) == expected)
    }

    @Test func oneActivationIsNotOvertakenByAnother() throws {
        let keys = [
            key("a", published: -200_000, activated: -200_000, retired: 20), key("b", published: -10, activated: 20),
            key("c", published: -5000),
        ]
        let error = try #require(throws: RefusedOperation.self) { try start(keys, isForced: true) }
        #expect(error.description.contains("takes effect at \((Self.now + .seconds(20)).iso8601)"))
    }

    /// A removed key has signed as well.
    @Test func theFirstKeyIsTheFirstOfAllTime() throws {
        let removed = key("a", published: -9_000_000, activated: -9_000_000, retired: -8_000_000, isPublished: false)
        #expect(throws: RefusedOperation.self) { try start([removed, key(published: 0)], isForced: false) }
    }

    @Test func aKeyGoesFromNextToRemoved() {
        #expect(key(published: -5).state(at: Self.now) == .next)
        #expect(key(published: -5, activated: 1).state(at: Self.now) == .next)
        #expect(key(published: -5, activated: 0).state(at: Self.now) == .active)
        #expect(key(published: -5, activated: -4, retired: 1).state(at: Self.now) == .active)
        #expect(key(published: -5, activated: -4, retired: 0).state(at: Self.now) == .retired)
        #expect(key(published: -5, activated: -4, retired: -3, isPublished: false).state(at: Self.now) == .removed)
        let retired = key(published: -5, activated: -4, retired: -3)
        #expect(retired.publishedUntil == Self.now + .seconds(90 * 86_400 - 3))
    }
}
