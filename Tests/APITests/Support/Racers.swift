import TestSupport
import Testing
import Threads

/// Worker threads of a server, each with its own connection. They get rounds of requests, and start all requests of a
/// round at once.
final class Racers: Sendable {
    private struct Start {
        let request: RepeatableRequest
        let time: ContinuousClock.Instant
    }

    private struct State {
        var round = 0
        var starts: [Start] = []
        var answers: [Int: Answer] = [:]
        var isOver = false
    }

    private let app: TestApp
    private let state: Monitor<State>
    private let threads: [Thread]

    init(_ app: TestApp, _ count: Int) {
        let state = Monitor(State())
        self.app = app
        self.state = state
        threads = (0..<count).map { number in
            Thread {
                let client = app.client(ofNode: number)
                var round = 0
                while let start = Self.next(state, number, after: &round) {
                    while ContinuousClock.now < start.time {}
                    let answer = client.send(start.request)
                    state.change { $0.answers[number] = answer }
                }
            }
        }
    }

    deinit {
        state.change { $0.isOver = true }
        threads.forEach { $0.join() }
    }

    /// The request for this thread in the next round; nil if there is none.
    private static func next(_ state: Monitor<State>, _ number: Int, after round: inout Int) -> Start? {
        let last = round
        let current = state.wait(atMost: .seconds(600)) { state in
            state.isOver || state.round > last ? state : nil
        }
        guard let current, !current.isOver else { return nil }
        round = current.round
        return current.starts[number]
    }

    /// - Parameter delays: how much later than the others each request starts.
    /// - Returns: the answers in the order of the requests.
    func race(_ requests: [RepeatableRequest], delays: [Duration] = []) throws -> [Answer] {
        try #require(requests.count == threads.count)
        try app.database.settle()
        let start = ContinuousClock.now + .microseconds(200)
        state.change { state in
            state.starts = requests.enumerated().map { number, request in
                Start(request: request, time: start + (delays.indices.contains(number) ? delays[number] : .zero))
            }
            state.answers = [:]
            state.round += 1
        }
        let answers = try #require(
            state.wait(atMost: .seconds(60)) { state in
                state.answers.count == requests.count ? requests.indices.compactMap { state.answers[$0] } : nil
            })
        try app.database.settle()
        return answers
    }
}
