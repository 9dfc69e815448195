import Testing
import Threads

@Suite struct SlowPeerGateTests {
    @Test(arguments: [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3), (8, 6), (16, 12)])
    func aQuarterStaysFree(workers: Int, permits: Int) {
        let gate = SlowPeerGate(workers: workers)
        for _ in 0..<2 { #expect(depth(gate) == permits) }
    }

    /// How many permits each of three holders gets in turn, and then a further one.
    @Test(arguments: [
        (2, [1, 0, 0], 0), (4, [2, 1, 0], 0), (8, [3, 2, 1], 0), (16, [6, 3, 2], 1), (64, [24, 12, 6], 3),
    ])
    func aHolderLeavesAsManyAsItHas(workers: Int, shares: [Int], next: Int) {
        let gate = SlowPeerGate(workers: workers)
        for _ in 0..<2 { #expect(self.shares(gate, ["a", "b", "c", "d"]) == shares + [next]) }
    }

    /// Neither an app with many networks nor a network with many apps gets more than the share of one holder.
    @Test func whoeverIsOneOfTwoHoldersCounts() {
        let gate = SlowPeerGate(workers: 16)
        #expect(depth(gate) { ["app", "network \($0)"] } == 6)
        #expect(depth(gate) { ["app \($0)", "network"] } == 6)
        #expect(depth(gate) { ["app \($0)", "network \($0)"] } == 12)
    }

    @Test func aPermitComesBackAfterAnError() {
        struct Failure: Error {}
        let gate = SlowPeerGate(workers: 2)
        for _ in 0..<3 { #expect(throws: Failure.self) { try gate.pass(for: ["a"]) { throw Failure() } } }
        #expect(gate.pass(for: ["a"]) { 1 } == 1)
    }

    /// How many permits can be taken at once.
    private func depth(_ gate: SlowPeerGate, _ count: Int = 0, _ holders: (Int) -> [String] = { _ in [] }) -> Int {
        gate.pass(for: holders(count)) { depth(gate, count + 1, holders) + 1 } ?? 0
    }

    /// How many permits each holder gets while the earlier ones keep theirs.
    private func shares(_ gate: SlowPeerGate, _ holders: ArraySlice<String>, _ count: Int = 0) -> [Int] {
        guard let holder = holders.first else { return [] }
        return gate.pass(for: [holder]) { shares(gate, holders, count + 1) }
            ?? [count] + shares(gate, holders.dropFirst())
    }
}
