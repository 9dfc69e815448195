import Threads
package import Time

/// Mail that waits for its thread, which sends it one by one: no request waits for a mail server, or shows by its time
/// whether there was anything to send.
package final class MailQueue: Sendable {
    /// What became of a message.
    package enum Outcome: String, CaseIterable, Sendable {
        case sent
        case failed
        /// It waited for so long that it was of no use any more.
        case expired
        /// The queue was full, or the instance ended.
        case dropped
    }

    private struct Item {
        let message: MailMessage
        let expiresAt: Timestamp
    }

    private struct State {
        var waiting: [Item] = []
        var isSending = false
        var isStopping = false
        var thread: Thread?
        var counts: [Outcome: Int] = [:]
    }

    /// The most messages that wait.
    package static let capacity = 200

    private let settings: MailSettings
    private let clock: Clock
    private let onLoss: @Sendable (Outcome, String) -> Void
    private let state = Monitor(State())

    /// - Parameter onLoss: is told why a message was not sent; never whose it was or what it said.
    package init(
        _ settings: MailSettings, clock: Clock = .system, onLoss: @escaping @Sendable (Outcome, String) -> Void
    ) {
        self.settings = settings
        self.clock = clock
        self.onLoss = onLoss
    }

    /// Does nothing if it was started before.
    package func start() {
        state.withLock { state in
            if state.thread == nil, !state.isStopping { state.thread = Thread { self.run() } }
        }
    }

    /// - Parameter expiresAt: when it is of no use any more.
    package func submit(_ message: MailMessage, before expiresAt: Timestamp) {
        let isTaken = state.change { state in
            guard !state.isStopping, state.waiting.count < Self.capacity else { return false }
            state.waiting.append(Item(message: message, expiresAt: expiresAt))
            return true
        }
        if !isTaken { lose(.dropped, "too many messages wait, or the instance is about to exit") }
    }

    /// Takes no more messages, and sends those that wait.
    ///
    /// - Parameter time: how long they are given; the rest is lost.
    package func stop(atMost time: Duration) {
        let thread = state.change { state in
            state.isStopping = true
            defer { state.thread = nil }
            return state.thread
        }
        guard let thread else { return }
        let isEmpty = state.wait(atMost: time) { $0.waiting.isEmpty && !$0.isSending ? true : nil }
        if isEmpty == true { return thread.join() }
        // It is within a transfer, whose time-out the process need not outlive.
        thread.detach()
        let lost = state.change { state in
            defer { state.waiting = [] }
            return state.waiting.count + (state.isSending ? 1 : 0)
        }
        for _ in 0..<lost { lose(.dropped, "the instance stopped before it was sent") }
    }

    package var waiting: Int { state.withLock { $0.waiting.count + ($0.isSending ? 1 : 0) } }

    /// How many messages since the start, for each outcome.
    package var counts: [(outcome: Outcome, count: Int)] {
        let counts = state.withLock(\.counts)
        return Outcome.allCases.map { ($0, counts[$0, default: 0]) }
    }

    /// Blocks until no message waits. For tests.
    ///
    /// - Returns: false if that takes longer.
    package func waitUntilEmpty(atMost time: Duration) -> Bool {
        state.wait(atMost: time) { $0.waiting.isEmpty && !$0.isSending ? true : nil } == true
    }

    private func run() {
        while let item = next() {
            if item.expiresAt <= clock.now {
                lose(.expired, "it waited too long for the mail server")
            } else {
                do {
                    try settings.send(item.message, at: clock.now)
                    count(.sent)
                } catch {
                    lose(.failed, "\(error)")
                }
            }
            state.change { $0.isSending = false }
        }
    }

    /// Waits for the next message; nil at the end.
    private func next() -> Item? {
        while true {
            let found = state.wait(atMost: .seconds(3600)) { state -> Item?? in
                guard !state.waiting.isEmpty else { return state.isStopping ? .some(nil) : nil }
                state.isSending = true
                return state.waiting.removeFirst()
            }
            if let found { return found }
        }
    }

    private func lose(_ outcome: Outcome, _ reason: String) {
        count(outcome)
        onLoss(outcome, reason)
    }

    private func count(_ outcome: Outcome) { state.withLock { $0.counts[outcome, default: 0] += 1 } }
}
