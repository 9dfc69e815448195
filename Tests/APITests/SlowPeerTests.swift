import HTTP
import Testing

@testable import API

/// Which requests count as slow, and which client they count for.
@Suite struct SlowPeerTests {
    @Test func aPaceIsKeptByWhoeverFallsBehindByNoMoreThanThePatience() {
        var pace = Pace(leastRate: 100, patience: .seconds(2))
        let waits: [(bytes: Int, Duration)] =
            // At the rate for ever.
            Array(repeating: (100, .seconds(1)), count: 1000)
            // Behind it by less than two seconds, and back.
            + [(0, .milliseconds(1900)), (1000, .milliseconds(50))]
            // What came fast buys no longer pause.
            + [(1_000_000, .zero), (1, .milliseconds(1999))]
        let isAllowed = waits.map { pace.allows($0.bytes, in: $0.1) }
        #expect(isAllowed.allSatisfy { $0 })
        let isAllowedMore = pace.allows(1_000_000, in: .milliseconds(20))
        #expect(!isAllowedMore)
    }

    @Test func aTrickleEndsWhenThePatienceDoes() {
        var pace = Pace(leastRate: 8192, patience: .seconds(30))
        var seconds = 0
        while pace.allows(1, in: .seconds(7)) { seconds += 7 }
        #expect(seconds == 28)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"), ("2001:db8::1", "2001:db8::"),
        ("1::2:3:4:5:6:7", "1:0:2:3::"), ("::1", "::"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("64:ff9b::c000:201", "192.0.2.1"), ("64:ff9b:1::c000:201", "64:ff9b:1::"), ("", ""), ("unix:", "unix:"),
    ])
    func aNetworkIsAnAddressOrTheSixtyFourBitsBeforeIt(address: String, network: String) {
        #expect(Request(method: .get, path: "/", remoteAddress: address).remoteNetwork == network)
    }
}
