import Synchronization
import Testing
import Threads

@testable import Fetch

/// Names whose look-up takes long, beside others (accounts §3.5).
@Suite struct NameLookupTests {
    /// A resolver that says which names it was asked for, and answers only those that are open.
    private final class Names: Sendable {
        private struct State {
            var asked: [String] = []
            var open: Set<String> = []
            var found: [Int] = []
        }

        private let state = Monitor(State())

        func resolve(_ name: String) -> [IPAddress] {
            state.change { $0.asked.append(name) }
            _ = state.wait(atMost: .seconds(60)) { $0.open.contains(name) ? true : nil }
            return []
        }

        func open(_ names: [String]) { state.change { $0.open.formUnion(names) } }
        func close(_ names: [String]) { state.change { $0.open.subtract(names) } }
        func find(_ id: Int) { state.change { $0.found.append(id) } }

        /// Sorted, once there are so many.
        func asked(_ count: Int) -> [String] {
            (state.wait(atMost: .seconds(30)) { $0.asked.count >= count ? $0.asked : nil } ?? []).sorted()
        }

        func found(_ count: Int) -> [Int] {
            (state.wait(atMost: .seconds(30)) { $0.found.count >= count ? $0.found : nil } ?? []).sorted()
        }
    }

    private let names = Names()

    private func lookups(threads: Int) -> NameLookups { NameLookups(threads: threads) { [names] in names.resolve($0) } }

    private func ask(_ lookups: NameLookups, _ name: String, _ id: Int) {
        lookups.addresses(of: name, for: id) { [names] _ in names.find(id) }
    }

    @Test func requestsForOneNameShareALookup() {
        let lookups = lookups(threads: 4)
        for id in 1...3 { ask(lookups, "a.example", id) }
        #expect(names.asked(1) == ["a.example"])
        ask(lookups, "a.example", 4)
        names.open(["a.example"])
        #expect(names.found(4) == [1, 2, 3, 4])
        #expect(names.asked(1) == ["a.example"])
        // The next request asks anew.
        ask(lookups, "a.example", 5)
        #expect(names.found(5) == [1, 2, 3, 4, 5])
        #expect(names.asked(2).count == 2)
    }

    @Test func aNameThatNobodyWaitsForIsNotLookedUp() {
        let lookups = lookups(threads: 1)
        ask(lookups, "a.example", 1)
        #expect(names.asked(1) == ["a.example"])
        ask(lookups, "b.example", 2)
        ask(lookups, "b.example", 3)
        ask(lookups, "c.example", 4)
        lookups.giveUp("b.example", for: 2)
        lookups.giveUp("b.example", for: 3)
        names.open(["a.example", "b.example", "c.example"])
        #expect(names.found(2) == [1, 4])
        #expect(names.asked(2) == ["a.example", "c.example"])
    }

    /// Only one of them gave up.
    @Test func aNameThatSomebodyWaitsForIsLookedUp() {
        let lookups = lookups(threads: 1)
        names.open(["b.example"])
        ask(lookups, "a.example", 1)
        ask(lookups, "b.example", 2)
        ask(lookups, "b.example", 3)
        lookups.giveUp("b.example", for: 2)
        lookups.giveUp("a.example", for: 1)
        names.open(["a.example"])
        #expect(names.found(1) == [3])
    }

    /// However many requests wait for a name that nobody answers for, it has one thread.
    @Test func oneDeadNameHoldsOneThread() {
        let lookups = lookups(threads: 2)
        for id in 1...20 {
            ask(lookups, "dead.example", id)
            lookups.giveUp("dead.example", for: id)
        }
        names.open(["live.example"])
        ask(lookups, "live.example", 21)
        #expect(names.found(1) == [21])
    }

    @Test func deadNamesLeaveThreadsToOthers() {
        let lookups = lookups(threads: 4)
        let dead = (1...4).map { "dead\($0).example" }
        for (id, name) in dead.enumerated() { ask(lookups, name, id) }
        #expect(names.asked(4) == dead)
        // They hold all threads once. When each thread has begun with another name, they have ended.
        for (id, name) in dead.enumerated() { lookups.giveUp(name, for: id) }
        let next = (1...4).map { "next\($0).example" }
        for (id, name) in next.enumerated() { ask(lookups, name, 10 + id) }
        names.open(dead)
        #expect(names.asked(8).count == 8)
        names.close(dead)
        names.open(next)
        #expect(names.found(4) == [10, 11, 12, 13])

        for (id, name) in dead.enumerated() { ask(lookups, name, 20 + id) }
        names.open(["live.example"])
        for id in 30..<40 {
            ask(lookups, "live.example", id)
            #expect(names.found(id - 25).last == id)
        }
        names.open(dead)
        #expect(names.found(18).count == 18)
    }
}
