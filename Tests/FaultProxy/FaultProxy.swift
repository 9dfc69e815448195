import Glibc
package import TestSupport
import Threads

/// A proxy between a client and nginx that does to requests and answers what networks do: it loses, delays, repeats and
/// changes them.
package final class FaultProxy: Sendable {
    /// What happens to one request.
    package enum Fault: Sendable {
        /// Nothing: it has a place in a sequence of faults.
        case none
        /// The server does not get it; the client's connection ends.
        case lostRequest
        /// The server answers; the client's connection ends without its answer.
        case lostAnswer
        /// The server answers; the client gets the head and this many bytes of the body, then its connection ends.
        ///
        /// Cuts within the head are not offered: FoundationNetworking on Linux ends the process then ("Transfer completed,
        /// but there's no response", swift-corelibs-foundation issue 5285).
        case cutAnswer(after: Int)
        /// The server gets it twice, one after the other; the client gets the last answer.
        case duplicate
        /// The server does not get it; somebody else answers in its place.
        case answer(status: Int, headers: [(String, String)], body: String)
        /// The server answers; the client gets the answer when `gate` opens.
        case held(Gate)
        /// The server does not get it before `gate` opens.
        case late(Gate)
        /// The server gets it after the next request, or a second later if none comes.
        case overtaken
        /// The server gets it so many milliseconds later.
        case delayed(UInt32)
        /// The answer has another Date.
        case date(String)
    }

    /// Faults by chance, for every request that no fault is armed for. The members are probabilities.
    package struct Weather: Sendable {
        package var lostRequest = 0.05
        /// Of the answers; half of them wholly, the others somewhere in the body.
        package var cutAnswer = 0.3
        package var delayed = 0.1
        package var duplicate = 0.1
        package var overtaken = 0.02
        /// 503.
        package var refused = 0.02

        package init() {}

        fileprivate var fault: Fault? {
            let odds: [(Double, Fault)] = [
                (lostRequest, .lostRequest), (cutAnswer / 2, .lostAnswer),
                (cutAnswer / 2, .cutAnswer(after: .random(in: 0..<300))), (delayed, .delayed(.random(in: 1...100))),
                (duplicate, .duplicate), (overtaken, .overtaken),
                (refused, .answer(status: 503, headers: [], body: #"{"error":"temporarily_unavailable"}"#)),
            ]
            var rest = Double.random(in: 0..<1)
            for (probability, fault) in odds {
                if rest < probability { return fault }
                rest -= probability
            }
            return nil
        }
    }

    /// Something that happens later, and stays so.
    package final class Gate: Sendable {
        private struct State: Sendable {
            var isOpen = false
            var waiting = 0
        }

        private let state = Monitor(State())

        package init() {}

        package func open() { state.change { $0.isOpen = true } }

        /// Returns once something waits here; false if nothing comes.
        package func waitForArrival() async -> Bool { await state.waitElsewhere { $0.waiting > 0 } }

        /// Waits until it is open. It blocks its thread.
        package func pass() {
            state.change { $0.waiting += 1 }
            // So long that only a test that forgot to open it waits for it.
            _ = state.wait(atMost: patience) { $0.isOpen ? true : nil }
        }
    }

    package struct Exchange: Sendable {
        package var request: LocalHTTPServer.Request
        /// nil if the server did not get the request.
        package var status: Int?
    }

    private struct State: Sendable {
        var faults: [(matches: @Sendable (LocalHTTPServer.Request) -> Bool, fault: Fault, remaining: Int)] = []
        var exchanges: [Exchange] = []
        var weather: Weather?
        /// How many requests the server has answered.
        var answered = 0
        /// How many have not been dealt with.
        var underWay = 0
    }

    private let server: LocalHTTPServer
    private let state: Monitor<State>

    package var url: String { server.url }

    /// - Parameters:
    ///   - port: nginx's.
    ///   - weather: then `exchanges` is not kept.
    package init(to port: UInt16, weather: Weather? = nil) throws {
        let state = Monitor(State(weather: weather))
        self.state = state
        server = try LocalHTTPServer(keepsRequests: false) { request in Self.reply(request, port, state) }
    }

    /// Arms a fault for the next requests with this path.
    ///
    /// - Parameter times: for how many.
    package func arm(_ fault: Fault, at path: String, times: Int = 1) {
        state.withLock { $0.faults.append(({ $0.path.hasPrefix(path) }, fault, times)) }
    }

    /// Faults that did not happen in the end do not happen later.
    package func disarm() { state.withLock { $0.faults = [] } }

    /// Returns once nothing is held back any more; false if something still is in the end.
    package func waitForQuiet() async -> Bool { await state.waitElsewhere { $0.underWay == 0 } }

    /// What went through so far.
    package var exchanges: [Exchange] { state.withLock { $0.exchanges } }

    /// How many of them have a path that begins so.
    package func count(_ path: String) -> Int { exchanges.filter { $0.request.path.hasPrefix(path) }.count }

    private static func reply(
        _ request: LocalHTTPServer.Request, _ port: UInt16, _ state: Monitor<State>
    ) -> LocalHTTPServer.Reply {
        state.change { $0.underWay += 1 }
        defer { state.change { $0.underWay -= 1 } }
        let fault = state.withLock { state -> Fault? in
            guard let index = state.faults.firstIndex(where: { $0.matches(request) }) else {
                return state.weather?.fault
            }
            state.faults[index].remaining -= 1
            let fault = state.faults[index].fault
            if state.faults[index].remaining == 0 { state.faults.remove(at: index) }
            return fault
        }
        func note(_ status: Int?) {
            state.change { state in
                if status != nil { state.answered += 1 }
                if state.weather == nil { state.exchanges.append(Exchange(request: request, status: status)) }
            }
        }
        switch fault {
        case .lostRequest:
            note(nil)
            return .raw([])
        case .answer(let status, let headers, let body):
            note(nil)
            return .response(status: status, headers: headers, body: Array(body.utf8))
        case .late(let gate): gate.pass()
        case .delayed(let milliseconds): usleep(milliseconds * 1000)
        case .overtaken:
            let answered = state.withLock { $0.answered }
            _ = state.wait(atMost: .seconds(1)) { $0.answered > answered ? true : nil }
        default: break
        }
        guard var answer = forward(request, port) else { return .reset }
        if case .duplicate = fault { answer = forward(request, port) ?? answer }
        note(answer.status)
        if case .date(let date) = fault {
            answer.headers.removeAll { $0.name == "date" }
            answer.headers.append(("date", date))
        }
        if case .held(let gate) = fault { gate.pass() }
        switch fault {
        case .lostAnswer: return .raw([])
        case .cutAnswer(let count): answer.body = Array(answer.body.prefix(count))
        default: break
        }
        return .raw(serialized(answer))
    }

    private static func forward(_ request: LocalHTTPServer.Request, _ port: UInt16) -> HTTPConnection.Answer? {
        let headers = request.headers.filter { !["host", "connection", "content-length"].contains($0.name) }
        return try? HTTPConnection(port: port).ask(
            request.method, request.path, headers: headers.map { ($0.name, $0.value) }, body: request.body)
    }

    private static func serialized(_ answer: HTTPConnection.Answer) -> [UInt8] {
        var head = "HTTP/1.1 \(answer.status) -\r\nconnection: close\r\n"
        for (name, value) in answer.headers where name != "connection" { head += "\(name): \(value)\r\n" }
        return Array((head + "\r\n").utf8) + answer.body
    }
}

/// As long as all tests take: what is waited for may be a task, and a task waits for the tests that block its threads. A test
/// whose wait is in vain takes that long to fail.
private let patience = Duration.seconds(1800)

extension Monitor where Value: Sendable {
    /// Waits on a thread of its own: what it waits for may need the ones that tasks run on.
    ///
    /// - Returns: false if the condition does not hold in time.
    fileprivate func waitElsewhere(until condition: @escaping @Sendable (Value) -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread {
                continuation.resume(returning: self.wait(atMost: patience) { condition($0) ? true : nil } ?? false)
            }.detach()
        }
    }
}
