import Testing
import Threads

@Suite struct SlowPeerGateTests {
    @Test(arguments: [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3), (8, 6), (16, 12)])
    func aQuarterStaysFree(workers: Int, permits: Int) {
        let gate = SlowPeerGate(workers: workers)
        for _ in 0..<2 { #expect(depth(gate) == permits) }
    }

    @Test func aPermitComesBackAfterAnError() {
        struct Failure: Error {}
        let gate = SlowPeerGate(workers: 2)
        for _ in 0..<3 { #expect(throws: Failure.self) { try gate.pass { throw Failure() } } }
        #expect(gate.pass { 1 } == 1)
    }

    /// How many permits are to be had at once.
    private func depth(_ gate: SlowPeerGate) -> Int { gate.pass { depth(gate) + 1 } ?? 0 }
}
