import FaultProxy
import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAuth

/// What a launch asks the server.
@Suite struct LaunchTests {
    @Test func aFreshTokenNeedsNoRequestAndAnExpiredOneIsRefreshedWithOne() async throws {
        let deployment = try Deployment()
        let clock = TestDeviceClock()
        let store = try await deployment.signedIn(clock: clock)
        let before = deployment.proxy.exchanges.count

        let fresh = try deployment.session(store, clock: clock)
        await fresh.start()
        let token = try await fresh.accessToken()
        #expect(deployment.proxy.exchanges.count == before)

        clock.advance(by: .seconds(1000))
        let expired = try deployment.session(store, clock: clock)
        await expired.start()
        #expect(try await expired.accessToken() != token)
        #expect(deployment.proxy.exchanges.dropFirst(before).map(\.request.path) == ["/oauth/token"])
    }
}
